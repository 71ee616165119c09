/** Events of a rollout: one for each step of it, when it is recorded in the status. */
import type { RolloutStatus, Shares } from '../../../api/rollout-status.ts'
import type { EventNote } from '../../../decision/plan.ts'
import type { Decisions } from '../decisions.ts'
import type { ModelView } from '../observe/view.ts'

const note = (type: EventNote['type'], reason: string, text: string): EventNote => ({
  type,
  reason,
  action: 'Rollout',
  note: text,
})

export function rolloutEvents({ recorded, travel }: ModelView, { rollout }: Decisions): EventNote[] {
  if (!rollout || !travel) return []
  const { rollout: before } = recorded
  const { state } = rollout
  return [...stepEvents(before, state), ...phaseEvents(before, state)]
}

const split = (weights: Shares): string => weights.map(({ name, weight }) => `${name} ${weight} %`).join(', ')

const placeOf = (state: RolloutStatus | undefined): string => `${state?.revision ?? 0}/${state?.step ?? 0}`

function stepEvents(before: RolloutStatus | undefined, state: RolloutStatus): EventNote[] {
  if (isBack(state)) return []
  const { revision, step, steps = 1 } = state
  const isStarted = step !== undefined && placeOf(before) !== placeOf(state)
  const started = `Step ${step ?? 1} of ${steps} of revision ${revision}: ${split(state.weights)}`
  return [
    ...passedStep(before, state),
    ...(isStarted ? [note('Normal', 'StepStarted', started)] : []),
    ...(isStarted && step === steps
      ? [note('Normal', 'Promoted', `Revision ${revision} gets the weights of the spec`)]
      : []),
  ]
}

const isBack = ({ phase }: RolloutStatus): boolean => phase === 'RolledBack' || phase === 'Aborted'

function passedStep(before: RolloutStatus | undefined, { revision, step = 0, phase }: RolloutStatus): EventNote[] {
  if (before?.revision !== revision || before.step === undefined) return []
  const isPassed = phase === 'Completed' || step > before.step
  const text = `Step ${before.step} of ${before.steps ?? 1} of revision ${revision} passed`
  return isPassed ? [note('Normal', 'StepPassed', text)] : []
}

/** Phases that end a rollout, or stop it. */
const reasons: Partial<Record<RolloutStatus['phase'], string>> = {
  Completed: 'RolloutCompleted',
  Paused: 'RolloutPaused',
  RolledBack: 'RolledBack',
  Aborted: 'RolloutAborted',
  Halted: 'RolloutHalted',
}

const PLANNED: readonly (string | undefined)[] = ['StepPaused', 'SpecPaused']

function phaseEvents(before: RolloutStatus | undefined, state: RolloutStatus): EventNote[] {
  const { phase, revision, weights, message = '', reason } = state
  const isSame = before?.revision === revision && before.phase === phase && before.reason === reason
  const event = reasons[phase]
  if (!before || isSame || event === undefined) return []
  if (phase === 'Completed') return [note('Normal', event, `Revision ${revision} is completed`)]
  if (isBack(state)) return [note('Warning', event, `Back to ${split(weights)}: ${message}`)]
  return [note(PLANNED.includes(reason) ? 'Normal' : 'Warning', event, message)]
}
