/**
 * One decision on a rollout: the record that the next pass acts on.
 *
 *     Progressing ── its weights are in effect, the analysis passes, the pause is over ──▶ next step … ──▶ Watching
 *          │  └──── a step waits for a person, or spec.paused ──▶ Paused                                    │
 *          │                                                                                               ▼
 *          └──── the analysis fails, a version is not ready in time, or abort ──▶ RolledBack, Aborted   Completed
 *                                             └── the stable versions are not ready ──▶ Halted
 */
import type { RolloutStatus } from '../../../api/rollout-status.ts'
import { ABORT_ANNOTATION, PROMOTE_ANNOTATION, type RolloutStep } from '../../../api/serving-rollout.ts'
import { previewName } from '../../model-names.ts'
import { millis, notBefore } from '../../time.ts'
import { isSameSplit } from '../../traffic/index.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from '../steps/routing.ts'
import { analyse, type Analysed, opened } from './analysis.ts'
import { judgeJobs } from './analysis-jobs.ts'
import { prepareAgain, remove, unreadyOf, waitFor } from './before-switch.ts'
import { atStep, KEEPING, type Travel } from './course.ts'
import { completed, failed, goBack } from './ending.ts'
import { closed } from './interval.ts'
import { toWeights } from './revision.ts'
import { type Advance, at, isLast, nameOf, type Stage, watchEnd } from './stage.ts'
import { isPreview, isRemoving, isTravelling, keepMs } from './strategy.ts'

/** Reasons for which a rollout goes back, or waits for a person to decide. */
const FAILURES: readonly string[] = ['AnalysisFailed', 'NotReady', 'ProgressDeadlineExceeded']

export function advance(view: ModelView, travel: Travel, routing: Routing): Advance {
  const next = nextOf(view, travel, routing)
  return travel.problem === undefined ? next : { ...next, problem: travel.problem }
}

function nextOf(view: ModelView, travel: Travel, routing: Routing): Advance {
  const { state, history, isNew } = travel
  if (isNew || !isTravelling(state)) return { state, history }
  const stage = { view, travel, routing, state }
  const { revision } = state
  if (annotation(stage, ABORT_ANNOTATION) === String(revision))
    return goBack(stage, 'Aborted', { reason: 'Aborted', message: `Revision ${revision} was aborted` })
  if (isFailed(state)) return isPromoted(stage) ? passed(stage) : failed(stage, state.reason ?? '', state.message ?? '')
  if (travel.spec.isPaused) return pausedBySpec(stage)
  return underWay(stage)
}

function underWay(stage: Stage): Advance {
  const { view, travel, state } = stage
  // Another strategy was chosen before anything was switched.
  if (state.stepWeight === 0 && state.strategy !== travel.spec.rollout.strategy)
    return at(stage, atStep(travel, 1, view.now))
  if (isRemoving(travel)) return remove(stage)
  if (isFullyPromoted(stage) && !isLast(stage) && !isPreview(state))
    return at(stage, atStep(travel, travel.steps.length, view.now))
  return isInEffect(stage) && isPrepared(stage) ? judged(stage) : waiting(stage)
}

const isFailed = ({ reason }: RolloutStatus): boolean => reason !== undefined && FAILURES.includes(reason)

const annotation = ({ view }: Stage, name: string): string | undefined =>
  view.observed.model.metadata.annotations?.[name]

const isFullyPromoted = (stage: Stage): boolean =>
  annotation(stage, PROMOTE_ANNOTATION) === String(stage.state.revision)

/** By hand: the whole revision (`3`), or up to a step (`3/2`). */
function isPromoted(stage: Stage): boolean {
  const { revision, step = 1 } = stage.state
  const [own, upTo] = (annotation(stage, PROMOTE_ANNOTATION) ?? '').split('/')
  return own === String(revision) && (upTo === undefined || Number(upTo) >= step)
}

/** All traffic is switched at once only to versions with all their pods. */
const isPrepared = (stage: Stage): boolean => !isPreview(stage.state) || unreadyOf(stage).length === 0

/** Observed: every provider sends the traffic of this step where it should go. */
function isInEffect({ routing, state }: Stage): boolean {
  const { weights, current, isSettling } = routing
  const wanted = toWeights(state.weights)
  if (!weights || isSettling || !isSameSplit(weights, wanted)) return false
  return (
    current.provider.splitPods !== undefined ||
    (current.inEffect !== undefined && isSameSplit(current.inEffect, wanted))
  )
}

function pausedBySpec(stage: Stage): Advance {
  const { analysis, ...state } = stage.state
  const message = `${nameOf(state)}: paused by spec.paused; remove it to go on`
  // What is counted while it is paused is not judged.
  return at(stage, {
    ...state,
    ...(analysis && { analysis: closed(analysis) }),
    phase: 'Paused',
    reason: 'SpecPaused',
    message,
  })
}

/** Without what an earlier pass said about the step. */
function plain({ reason: _reason, message: _message, ...state }: RolloutStatus): RolloutStatus {
  return { ...state, phase: 'Progressing' }
}

function waiting(stage: Stage): Advance {
  const { state } = stage
  const unready = unreadyOf(stage)
  if (state.inEffectSince !== undefined) {
    if (unready.length === 0) return at(stage, state)
    return isPreview(state) ? prepareAgain(stage, unready.join(', ')) : lost(stage, unready.join(', '))
  }
  const pods = isPreview(state) ? ' with all pods' : ''
  const what = unready.length > 0 ? `${unready.join(', ')} to be ready${pods}${causeOf(stage, unready)}` : IN_EFFECT
  return waitFor(stage, { ...plain(state), reason: 'Waiting', message: `${nameOf(state)}: waiting for ${what}` }, what)
}

const IN_EFFECT = 'its weights to be in effect'
const MAX_CAUSE = 400

/** What is known to keep one of these versions from being ready. */
function causeOf({ view }: Stage, names: readonly string[]): string {
  const { message } = view.recorded.activeVersions?.find(({ name, reason }) => reason && names.includes(name)) ?? {}
  return message === undefined ? '' : ` (${message.slice(0, MAX_CAUSE)})`
}

/** A new version that had traffic has no more ready pods: that is a failed judgement. */
function lost(stage: Stage, names: string): Advance {
  const { view, state, travel } = stage
  const { inEffectSince: _since, ...rest } = plain(state)
  const failures = (state.analysis?.failures ?? 0) + 1
  const message = `${nameOf(state)}: ${names} lost its last ready pod`
  const analysis = { ...(state.analysis ?? { since: notBefore(view.now) }), counters: [], failures }
  const stepStartedAt = notBefore(view.now)
  const next: RolloutStatus = { ...rest, analysis, stepStartedAt, reason: 'Waiting', message }
  const limit = travel.spec.rollout.analysis?.failureLimit ?? 1
  return failures >= limit ? failed({ ...stage, state: next }, 'NotReady', message) : at(stage, next)
}

/** Its weights are in effect. */
function judged(stage: Stage): Advance {
  const { view, state } = stage
  if (state.inEffectSince === undefined) {
    const analysis = opened(stage)
    return at(stage, { ...plain(state), inEffectSince: notBefore(view.now), ...(analysis && { analysis }) })
  }
  const analysed = analyse(stage)
  const { jobs, waitsFor, ...judgement } = judgeJobs(stage)
  const { analysis } = analysed
  const kept = { ...(analysis && { analysis }), ...(jobs.length > 0 && { jobs }) }
  const next = { ...stage, state: { ...plain(state), ...kept } }
  const failure = analysed.failure ?? judgement.failure
  if (failure !== undefined) return failed(next, 'AnalysisFailed', `${nameOf(state)}: ${failure}`)
  return stillWaiting(next, analysed, waitsFor) ?? passed(next)
}

type Stay = Pick<RolloutStatus, 'phase' | 'reason' | 'message'>

/** Stays where it is, until one of its ends at the latest. */
function stay(stage: Stage, endsAt: number | undefined, what: Stay): Advance {
  const { view, state } = stage
  const until = pauseEnd(stage)
  const message = `${nameOf(state)}: ${what.message ?? ''}`
  return at(stage, { ...state, ...what, message }, endsAt, view.now < until ? until : undefined)
}

/** What the step still waits for, in order. */
function stillWaiting(stage: Stage, analysed: Analysed, waitsFor: string | undefined): Advance | undefined {
  const { isPassed, endsAt, lacking } = analysed
  const until = pauseEnd(stage)
  if (isPreview(stage.state) && isFullyPromoted(stage)) return undefined
  if (stage.view.now < until) return stay(stage, endsAt, pauseOf(stage, until))
  if (isUnread(stage, analysed)) return unread(stage, analysed)
  if (!isPassed && !isLast(stage))
    return lacking === undefined
      ? stay(stage, endsAt, ANALYSING)
      : stay(stage, endsAt, { phase: 'Progressing', reason: 'TooFewRequests', message: lacking })
  if (waitsFor !== undefined) return stay(stage, endsAt, judgedByJob(stage, waitsFor))
  if (!stepOf(stage)?.pause || isPromoted(stage)) return undefined
  return stay(stage, endsAt, { phase: 'Paused', reason: 'StepPaused', message: gateOf(stage) })
}

const ANALYSING: Stay = { phase: 'Progressing', reason: 'Analysing', message: 'the analysis is under way' }

const judgedByJob = (stage: Stage, message: string): Stay => ({
  ...ANALYSING,
  phase: isLast(stage) ? 'Watching' : 'Progressing',
  message,
})

const watching = (stage: Stage): Stay => ({
  phase: 'Watching',
  reason: 'Watching',
  message: `watching until ${notBefore(watchEnd(stage))}`,
})

function pauseOf(stage: Stage, until: number): Stay {
  if (!isLast(stage)) return { phase: 'Progressing', reason: 'StepPause', message: `until ${notBefore(until)}` }
  if (stage.view.now < watchEnd(stage)) return watching(stage)
  const message = `keeping ${stage.state.stable ?? ''} until ${notBefore(until)}`
  return { phase: 'Watching', reason: KEEPING, message }
}

/** Figures are missing that decide: those of a step that has not passed, or the last ones of the watch. */
const isUnread = (stage: Stage, analysed: Analysed): boolean =>
  analysed.isUnread === true && (!analysed.isPassed || isLast(stage))

function unread(stage: Stage, { endsAt, lacking }: Analysed): Advance {
  if (lacking === undefined) return stay(stage, endsAt, isLast(stage) ? watching(stage) : ANALYSING)
  const phase = isLast(stage) ? 'Watching' : 'Progressing'
  return stay(stage, endsAt, { phase, reason: 'WaitingForMetrics', message: lacking })
}

function gateOf({ view: { model }, state }: Stage): string {
  const value = `${state.revision}/${state.step ?? 1}`
  const command = `kubectl annotate md/${model.metadata.name} --overwrite ${PROMOTE_ANNOTATION}=${value}`
  const preview = isPreview(state) ? `preview at Service ${previewName(model)}, ` : ''
  return `${preview}waits for a person; to go on: ${command}`
}

const stepOf = ({ state: { step = 1 }, travel: { steps } }: Stage): RolloutStep | undefined => steps[step - 1]

const sinceOf = ({ state, view }: Stage): number => millis(state.inEffectSince) ?? view.now

function pauseEnd(stage: Stage): number {
  const pauseMs = (stepOf(stage)?.pauseSeconds ?? 0) * 1000
  return isLast(stage)
    ? Math.max(watchEnd(stage), sinceOf(stage) + Math.max(pauseMs, keepMs(stage.travel)))
    : sinceOf(stage) + pauseMs
}

function passed(stage: Stage): Advance {
  const { state, travel, view } = stage
  const next = Math.min((state.step ?? 1) + 1, travel.steps.length)
  return isLast(stage) ? completed(stage) : at(stage, atStep({ ...travel, state }, next, view.now))
}
