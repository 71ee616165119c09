import type { RollbackTo, Rollout } from '../../../api/serving-rollout.ts'
import type { Model } from '../observe/observed.ts'

/** What the spec says about rollouts. */
export interface RolloutSpec {
  readonly historyLimit: number
  readonly rollout: Rollout
  readonly isPaused: boolean
  readonly rollbackTo?: RollbackTo
}

const DEFAULT_LIMIT = 10

export function rolloutSpecOf(model: Model): RolloutSpec | undefined {
  if (!('versions' in model.spec) || !model.spec.rollout) return undefined
  const { rollout, paused = false, historyLimit = DEFAULT_LIMIT, rollbackTo } = model.spec
  return { rollout, isPaused: paused, historyLimit, ...(rollbackTo && { rollbackTo }) }
}
