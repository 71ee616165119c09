/** Complete probes, for built-in runtimes. */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'

export type Probes = NonNullable<ModelServerSpec['probes']>
export type Probe = NonNullable<Probes['readiness']>

/** Holds the others back while a large model is loaded: up to ten minutes. */
export const starting = (path: string): Probe => ({ path, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 120 })

export const readiness = (path: string): Probe => ({ path, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 })

/** Long timeouts: a busy server is not dead. */
export const liveness = (path: string): Probe => ({ path, periodSeconds: 15, timeoutSeconds: 10, failureThreshold: 4 })
