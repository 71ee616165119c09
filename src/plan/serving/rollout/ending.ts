/** How a rollout ends: completed, or back at what was good before. */
import { compact } from '../../../api/json.ts'
import type { Revision, RolloutStatus } from '../../../api/rollout-status.ts'
import { sum, toNames, WHOLE } from '../../traffic/index.ts'
import type { Travel } from './course.ts'
import { closed } from './interval.ts'
import { restored, toShares } from './revision.ts'
import { type Advance, at, isVersionReady, type Stage } from './stage.ts'
import { isRecreating } from './strategy.ts'

export function completed({ travel, state: { revision } }: Stage): Advance {
  const weights = toShares(travel.destination)
  const state: RolloutStatus = { phase: 'Completed', revision, stableRevision: revision, weights }
  return { state, history: marked(travel, { result: 'Completed' }) }
}

function marked({ history, state }: Travel, change: Pick<Revision, 'result' | 'message'>): Revision[] {
  return history.map((one) => (one.revision === state.revision ? { ...one, ...change } : one))
}

export function failed(stage: Stage, reason: string, message: string): Advance {
  const { travel, state } = stage
  if (travel.spec.rollout.autoRollback) return goBack(stage, 'RolledBack', { reason, message })
  return at(stage, { ...state, phase: 'Paused', reason, message })
}

interface Cause {
  readonly reason: string
  readonly message: string
}

/** At once, unless the versions to go back to are not ready: then traffic stays where it is. */
export function goBack(stage: Stage, phase: 'RolledBack' | 'Aborted', { reason, message }: Cause): Advance {
  const { view, travel, state } = stage
  const { stable } = travel
  const broken = toNames(stable).filter((name) => !isVersionReady(view, name))
  // Versions that were removed start again, and nothing answers until they are ready.
  const isBlocked = isRecreating(travel) ? !isRestorable(travel) : broken.length > 0
  if (isBlocked || sum(stable) !== WHOLE) {
    const why = broken.length > 0 ? `${broken.join(', ')} is not ready` : 'there is no earlier revision'
    return at(stage, { ...state, phase: 'Halted', reason, message: `${HALTED}${why}. ${withoutHalt(message)}` })
  }
  const cause = withoutHalt(message)
  const { analysis, jobs, candidate, revision, stableRevision, strategy, step, steps, stepWeight } = state
  const next: RolloutStatus = compact({
    phase,
    revision,
    stableRevision,
    strategy,
    step,
    steps,
    stepWeight,
    stable: state.stable,
    candidate,
    weights: toShares(stable),
    analysis: analysis && closed(analysis),
    jobs,
    reason,
    message: cause,
  })
  return { state: next, history: marked(travel, { result: phase, message: cause.slice(0, 512) }) }
}

function isRestorable({ history, state }: Travel): boolean {
  const good = history.find(({ revision }) => revision === state.stableRevision)
  return good !== undefined && restored(good) !== undefined
}

const HALTED = 'Traffic stays where it is, since '

/** A rollout that is halted says the same in every pass. */
function withoutHalt(message: string): string {
  return message.startsWith(HALTED) ? message.slice(message.indexOf('. ') + 2) : message
}
