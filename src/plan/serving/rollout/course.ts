/**
 * Where traffic is to go, and how far it may go now.
 *
 * The weights of the spec are the destination. The status records how far the rollout is (`status.rollout`), and this pass
 * acts on the record: on its weights, and on the versions that it needs. What this pass decides is recorded, and the next
 * pass acts on it.
 *
 * During a rollout the versions that had traffic before keep the pod templates of their revision, whatever the spec says by
 * then, so that going back restores exactly what was there.
 */
import type { Revision, RolloutStatus } from '../../../api/rollout-status.ts'
import { RETRY_ANNOTATION, type RolloutStep } from '../../../api/serving-rollout.ts'
import { notBefore } from '../../time.ts'
import { apportion, isSameSplit, sum, type Weights, WHOLE } from '../../traffic/index.ts'
import type { ServingObserved } from '../observe/observed.ts'
import type { ServedModel } from '../observe/served-model.ts'
import { onlyReference } from './interval.ts'
import { neededVersions } from './needed-versions.ts'
import {
  type Content,
  contentOf,
  hashOf,
  newRevision,
  pruned,
  rescaled,
  templateOf,
  toShares,
  toWeights,
  weightsOfContent,
} from './revision.ts'
import { type RolloutSpec, rolloutSpecOf } from './rollout-spec.ts'
import { isClearing, stepsOf } from './strategy.ts'
import { between, gaining, losing } from './way.ts'
import { type Wish, wishOf } from './wish.ts'

/** Reason of a rollout that has passed everything and keeps the old versions. */
export const KEEPING = 'OldVersionsKept'

export interface Travel {
  readonly spec: RolloutSpec
  /** As recorded, or the start of a new rollout. */
  readonly state: RolloutStatus
  /** This pass records the start of a rollout. */
  readonly isNew: boolean
  readonly history: readonly Revision[]
  /** The last one leads to the destination. */
  readonly steps: readonly RolloutStep[]
  /** It goes back to something that was good: at once and without analysis. */
  readonly isReturn: boolean
  readonly from: Weights
  readonly destination: Weights
  readonly stable: Weights
  /** Why `spec.rollbackTo` cannot be followed. */
  readonly problem?: string
}

export interface Course {
  /** With the versions that are needed now. */
  readonly model: ServedModel
  /** The weights of this pass. */
  readonly aim: Weights
  readonly travel?: Travel
}

export function courseOf(observed: ServingObserved, model: ServedModel): Course {
  const spec = rolloutSpecOf(observed.model)
  if (!spec) return { model, aim: weightsOfContent(model) }
  const wish = wishOf(spec, contentOf(model), observed)
  const { rollout: recorded } = observed.model.status ?? {}
  const travel = withScaling(travelOf(observed, spec, wish), model)
  const step = toWeights(travel.isNew && recorded ? recorded.weights : travel.state.weights)
  const aim = isClearing(travel) ? travel.destination : step
  const versions = neededVersions(travel, wish.content, model)
  return { model: { ...model, versions }, aim, travel }
}

function travelOf(observed: ServingObserved, spec: RolloutSpec, wish: Wish): Travel {
  const { status = {}, metadata } = observed.model
  const { rollout: recorded, history = [] } = status
  const last = history.find(({ revision }) => revision === recorded?.revision)
  if (!recorded || !last) return first(observed, spec, wish)
  const isRetried =
    (recorded.phase === 'RolledBack' || recorded.phase === 'Aborted') &&
    metadata.annotations?.[RETRY_ANNOTATION] === String(recorded.revision)
  if (last.hash !== hashOf(wish.content) || isRetried)
    return started(observed, spec, wish, { recorded, last, isRetried })
  const current = history.map((one) => (one === last ? refreshed(one, wish.content) : one))
  return travelIn({ spec, wish, isNew: false }, recorded, current)
}

/** What to go back to has as many pods as the spec said last. */
function withScaling(travel: Travel, model: ServedModel): Travel {
  const { stableRevision } = travel.state
  const history = travel.history.map((one) => (one.revision === stableRevision ? rescaled(one, model) : one))
  return { ...travel, history }
}

/** The number of pods may have changed since. */
function refreshed(revision: Revision, content: Content): Revision {
  const { template: _template, ...rest } = revision
  const template = templateOf(content)
  return { ...rest, ...(template !== undefined && { template }) }
}

/** The first deployment, or the first pass with a rollout in the spec: there is nothing to go back to. */
function first({ now }: ServingObserved, spec: RolloutSpec, wish: Wish): Travel {
  const revision = newRevision([], { content: wish.content, reason: 'Created', result: 'Completed', now })
  const number = revision.revision
  const state: RolloutStatus = {
    phase: 'Completed',
    revision: number,
    stableRevision: number,
    weights: revision.weights,
  }
  return travelIn({ spec, wish, isNew: true }, state, [revision])
}

interface Before {
  readonly recorded: RolloutStatus
  readonly last: Revision
  readonly isRetried: boolean
}

/** What was good before stays what to go back to, until this rollout is completed. */
function started({ model, now }: ServingObserved, spec: RolloutSpec, wish: Wish, before: Before): Travel {
  const { recorded, last, isRetried } = before
  const { history = [], activeVersions = [] } = model.status ?? {}
  const stableRevision = isGood(recorded) ? recorded.revision : recorded.stableRevision
  const stable = toWeights(history.find(({ revision }) => revision === stableRevision)?.weights ?? [])
  const destination = weightsOfContent(wish.content)
  const current = new Map(activeVersions.map(({ name, weight = 0 }) => [name, weight]))
  const from = startOf(sum(current) > 0 ? current : toWeights(recorded.weights), stable, destination)
  const isThere = isSameSplit(from, destination)
  const result = isThere ? 'Completed' : 'Progressing'
  const reason = isRetried ? 'Retried' : wish.reason
  const revision = newRevision(history, { content: wish.content, reason, result, now })
  const number = revision.revision
  const ended = history.map((one) =>
    one === last && one.result === 'Progressing' ? { ...one, result: isGood(recorded) ? COMPLETED : SUPERSEDED } : one,
  )
  const all = pruned([...ended, revision], spec.historyLimit, new Set([stableRevision, number]))
  if (isThere) {
    const state = { phase: result, revision: number, stableRevision: number, weights: revision.weights } as const
    return travelIn({ spec, wish, isNew: true }, state, all)
  }
  const state = {
    phase: result,
    revision: number,
    stableRevision,
    weights: toShares(from),
    from: toShares(from),
  } as const
  const travel = travelIn({ spec, wish, isNew: true }, state, all)
  return { ...travel, state: atStep(travel, 1, now) }
}

const COMPLETED = 'Completed' as const
const SUPERSEDED = 'Superseded' as const

/** It is completed, or has passed everything and only keeps the old versions a while longer. */
const isGood = ({ phase, reason }: RolloutStatus): boolean =>
  phase === 'Completed' || (phase === 'Watching' && reason === KEEPING)

/** Where traffic is now, without versions that are needed neither to go on nor to go back. */
function startOf(current: Weights, stable: Weights, destination: Weights): Weights {
  const isNeeded = (name: string): boolean => destination.has(name) || (stable.get(name) ?? 0) > 0
  const needed = new Map([...current].filter(([name, weight]) => weight > 0 && isNeeded(name)))
  return sum(needed) > 0 ? apportion(needed, WHOLE) : stable
}

/** The state at the start of a step, to be recorded. */
export function atStep(travel: Travel, step: number, now: number): RolloutStatus {
  const { spec, state, steps, from, destination, stable } = travel
  const weight = steps[step - 1]?.weight ?? WHOLE
  return {
    phase: 'Progressing',
    revision: state.revision,
    stableRevision: state.stableRevision,
    strategy: spec.rollout.strategy,
    step,
    steps: steps.length,
    stepWeight: weight,
    stable: losing(stable, destination).join(', '),
    candidate: gaining(stable, destination).join(', '),
    weights: toShares(between(from, destination, weight)),
    ...(state.from && { from: state.from }),
    stepStartedAt: notBefore(now),
    // What is known of the stable versions is worth keeping where they get no more traffic.
    ...(state.analysis && { analysis: onlyReference(state.analysis) }),
  }
}

interface Basis {
  readonly spec: RolloutSpec
  readonly wish: Wish
  readonly isNew: boolean
}

function travelIn({ spec, wish, isNew }: Basis, state: RolloutStatus, history: readonly Revision[]): Travel {
  const { content, problem } = wish
  const entry = (number: number): Revision | undefined => history.find(({ revision }) => revision === number)
  const [own, good] = [entry(state.revision), entry(state.stableRevision)]
  const isReturn = own?.reason === 'RollbackTo' || (own !== good && own?.hash === good?.hash)
  return {
    spec,
    state,
    isNew,
    history,
    steps: stepsOf(spec.rollout, isReturn),
    isReturn,
    from: toWeights(state.from ?? state.weights),
    destination: weightsOfContent(content),
    stable: toWeights(good?.weights ?? []),
    ...(problem !== undefined && { problem }),
  }
}
