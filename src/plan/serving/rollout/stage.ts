/** What a decision on a rollout depends on. */
import type { Revision, RolloutStatus } from '../../../api/rollout-status.ts'
import { earliest } from '../../requeue.ts'
import { millis } from '../../time.ts'
import { WHOLE } from '../../traffic/index.ts'
import { isReady } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from '../steps/routing.ts'
import type { Travel } from './course.ts'

export interface Stage {
  readonly view: ModelView
  readonly travel: Travel
  readonly routing: Routing
  readonly state: RolloutStatus
}

/** At the weights of the spec. */
export const isLast = ({ state: { stepWeight = WHOLE } }: Pick<Stage, 'state'>): boolean => stepWeight >= WHOLE

/** How long the weights of the spec are judged before the rollout is completed. */
const watchMs = ({ spec, isReturn }: Travel): number =>
  isReturn ? 0 : (spec.rollout.analysis?.watchSeconds ?? 0) * 1000

/** When the new versions are judged no more. */
export function watchEnd(stage: Pick<Stage, 'state' | 'travel'>): number {
  const began = millis(stage.state.inEffectSince)
  return isLast(stage) && began !== undefined ? began + watchMs(stage.travel) : Infinity
}

export interface Advance {
  /** `status.rollout`. */
  readonly state: RolloutStatus
  /** `status.history`. */
  readonly history: readonly Revision[]
  /** When to look again, in milliseconds of the epoch. */
  readonly wakeAt?: number
  /** Why `spec.rollbackTo` cannot be followed. */
  readonly problem?: string
}

/** Records a state, to look again at the earliest of these times. */
export const at = (
  { travel: { history } }: Stage,
  state: RolloutStatus,
  ...wakes: readonly (number | undefined)[]
): Advance => {
  const wakeAt = earliest(...wakes)
  return { state, history, ...(wakeAt !== undefined && { wakeAt }) }
}

/** `Step 1 of 3 (10 %)` */
export const nameOf = ({ step = 1, steps = 1, stepWeight = WHOLE }: RolloutStatus): string =>
  `Step ${step} of ${steps} (${stepWeight} %)`

export const isVersionReady = ({ versions }: ModelView, name: string): boolean =>
  versions.some((version) => version.name === name && isReady(version))
