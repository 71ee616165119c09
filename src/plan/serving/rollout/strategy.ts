/**
 * What the strategies differ in. Each is a list of steps. A first step of weight 0 moves no traffic: with `blueGreen` the new
 * versions become ready beside the old ones, with `recreate` the old ones are removed before the new ones start.
 */
import type { RolloutStatus } from '../../../api/rollout-status.ts'
import { DEFAULT_KEEP_SECONDS } from '../../../api/rollout-strategy.ts'
import type { Rollout, RolloutStep } from '../../../api/serving-rollout.ts'
import { WHOLE } from '../../traffic/index.ts'
import type { Travel } from './course.ts'
import { gaining } from './way.ts'

const DESTINATION: RolloutStep = { weight: WHOLE }

export const isTravelling = ({ phase }: RolloutStatus): boolean =>
  phase === 'Progressing' || phase === 'Paused' || phase === 'Watching' || phase === 'Halted'

/** The last one leads to the destination. */
export function stepsOf(rollout: Rollout, isReturn: boolean): readonly RolloutStep[] {
  const { strategy, steps = [], blueGreen } = rollout
  if (strategy === 'recreate') return [{ weight: 0 }, DESTINATION]
  if (isReturn) return [DESTINATION]
  if (strategy === 'canary') return steps.at(-1)?.weight === WHOLE ? steps : [...steps, DESTINATION]
  const { pause = false, previewSeconds = 0 } = blueGreen ?? {}
  return [{ weight: 0, pause, pauseSeconds: previewSeconds }, DESTINATION]
}

/** The new versions run, and do not get traffic yet. */
export const isPreview = ({ strategy, stepWeight }: RolloutStatus): boolean =>
  strategy === 'blueGreen' && stepWeight === 0

/** The version that the preview Service leads to: the new one with the largest weight. */
export function previewed({ state, isReturn, stable, destination }: Travel): string | undefined {
  if (isReturn || !isTravelling(state) || state.strategy !== 'blueGreen') return undefined
  const weightOf = (name: string): number => destination.get(name) ?? 0
  return gaining(stable, destination).toSorted((one, other) => weightOf(other) - weightOf(one))[0]
}

/** How long the old versions are kept after the switch. */
export const keepMs = ({ spec: { rollout }, isReturn }: Pick<Travel, 'spec' | 'isReturn'>): number =>
  isReturn || rollout.strategy !== 'blueGreen' ? 0 : (rollout.blueGreen?.keepSeconds ?? DEFAULT_KEEP_SECONDS) * 1000

type Recorded = Pick<Travel, 'state' | 'spec' | 'isNew'>

/** On record and in the spec: the last version that answers is removed only where a person chose that. */
export const isRecreating = ({ state, spec }: Recorded): boolean =>
  state.strategy === 'recreate' && spec.rollout.strategy === 'recreate'

/** New versions wait until old ones are gone. */
export const isRemoving = (travel: Recorded): boolean =>
  isRecreating(travel) && isTravelling(travel.state) && travel.state.stepWeight === 0

/** The old versions are removed now. A rollout that is paused leaves them, or has them back. */
export const isClearing = (travel: Recorded): boolean => isRemoving(travel) && !travel.isNew && !travel.spec.isPaused

const isBack = ({ phase }: RolloutStatus): boolean => phase === 'RolledBack' || phase === 'Aborted'

/** Versions that are not needed are removed although no other can take their traffic: on the way, and on the way back. */
export const mayRemoveLast = (travel: Recorded): boolean =>
  isClearing(travel) || (!travel.isNew && isBack(travel.state) && isRecreating(travel))
