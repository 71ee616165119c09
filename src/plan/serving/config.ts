/** What whoever runs the operator may decide about models that are served. */
import { defaultTrafficConfig, type TrafficConfig } from '../traffic/config.ts'

export interface ServingConfig extends TrafficConfig {
  /** A version that gets no traffic any more is kept this long before it goes: connections end, caches of routes expire. */
  readonly drainSeconds: number
}

export const defaultServingConfig: ServingConfig = { ...defaultTrafficConfig, drainSeconds: 30 }
