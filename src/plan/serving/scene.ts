/** What is observed of a model, sorted for decisions. */
import type { ServingStatus } from '../../api/modeldeployment-parts.ts'
import type { ServingObserved } from './observed.ts'
import type { ServedModel } from './served-model.ts'
import { type Version, versionsOf } from './version.ts'
import type { Weights } from './weights.ts'

export interface Scene {
  readonly observed: ServingObserved
  readonly model: ServedModel
  readonly versions: readonly Version[]
  /** The status as it was last written. */
  readonly known: ServingStatus
  readonly now: number
  readonly drainMs: number
}

export function sceneOf(observed: ServingObserved, model: ServedModel): Scene {
  const { now, config } = observed
  return {
    observed,
    model,
    versions: versionsOf(observed, model),
    known: observed.model.status ?? {},
    now,
    drainMs: (model.traffic.drainSeconds ?? config.drainSeconds) * 1000,
  }
}

/** What each version was given last. */
export function knownWeights({ known }: Scene): Weights {
  return new Map(known.activeVersions?.map(({ name, weight = 0 }) => [name, weight]))
}
