/**
 * Failures of pods. The decision is recorded first, with everything it rests on: what failed, whether it counts, which
 * attempt is next and when. The passes that follow act on it. The failed attempt is over then, and later failures of its
 * pods are ignored: no failure is counted twice, and none is forgotten.
 */
import { formatDuration, notBefore } from '../../time.ts'
import { canReplaceAlone } from '../frameworks/elasticity.ts'
import { type Failure, failuresOf, lastFailureOf, lossOf } from '../observe/failure.ts'
import { lostReplicas, type Snapshot } from '../observe/snapshot.ts'
import { describeFailure, logHint, workerFailed } from '../report/events.ts'
import { allOf, portion } from '../report/wording.ts'
import { pauseAfter, pauseAfterDisruption } from './backoff.ts'
import { decideOn, type FailureDecision, lossesAfter } from './failure-policy.ts'
import { failed } from './finish.ts'
import { keepRecorded, makePlan, restartedAttempt, type Step, type TrainingPlan } from './step.ts'

export const restart: Step = (snapshot) => {
  const failures = newFailures(snapshot)
  const [first] = failures
  if (!first) return undefined
  const decision = decideOn(snapshot.job, first)
  if (decision.action === 'fail') return failJob(snapshot, first, decision)
  return failures.every(({ member }) => canReplaceAlone(snapshot.job.spec, member))
    ? replaceMembers(snapshot, failures, first, decision)
    : restartGang(snapshot, first, decision)
}

/** Failures that are not recorded yet. */
function newFailures(snapshot: Snapshot): Failure[] {
  const { observed, job, gang } = snapshot
  const recorded = new Set(job.status?.failedPods)
  const members = gang.filter(({ pod }) => !recorded.has(pod?.metadata.uid ?? ''))
  return [...failuresOf(observed, members), ...losses(snapshot)]
}

function losses(snapshot: Snapshot): Failure[] {
  const { job, attempt, observed, engine } = snapshot
  return lostReplicas(snapshot).map((replica) => {
    const name = engine.hostname(job, replica.role, replica.index)
    return lossOf({ ...replica, attempt: attempt.number, podName: name, phase: 'Failed' }, observed.now)
  })
}

type FinalDecision = FailureDecision & { readonly action: 'fail' }

export function failJob(snapshot: Snapshot, failure: Failure, decision: FinalDecision): TrainingPlan {
  const { job, observed } = snapshot
  const lastFailure = lastFailureOf(failure, observed, decision.counted)
  const message = `${describeFailure(failure)}; ${decision.message}${logHint(job, failure, lastFailure.log)}`
  return failed(snapshot, decision.reason, message, {
    lastFailure,
    failures: failuresAfter(snapshot, decision),
    unexplainedLosses: lossesAfter(job, failure),
  })
}

export function restartGang(snapshot: Snapshot, failure: Failure, decision: FailureDecision): TrainingPlan {
  const { observed, job } = snapshot
  const next = restartedAttempt(snapshot)
  const pause = pauseOf(snapshot, failure, decision)
  const when = pause > 0 ? ` in ${formatDuration(pause)}` : ''
  const attempt = `attempt ${next.attempt.number}, ${describeCount(snapshot, decision)}`
  const action = `restarting ${allOf(next.attempt.worldSize, 'worker')}${when} (${attempt})`
  return makePlan(
    snapshot,
    {
      state: 'Restarting',
      reason: failure.reason,
      message: `${describeFailure(failure)}; ${action}`,
      isReady: false,
      ...next,
      failures: failuresAfter(snapshot, decision),
      unexplainedLosses: lossesAfter(job, failure),
      lastFailure: lastFailureOf(failure, observed, decision.counted),
      ...restartTimeAfter(pause, observed.now),
    },
    { events: [workerFailed(failure, action)] },
  )
}

/** The attempt continues; only the failed members are replaced. */
function replaceMembers(
  snapshot: Snapshot,
  failures: readonly Failure[],
  first: Failure,
  decision: FailureDecision,
): TrainingPlan {
  const { job, observed, replicas } = snapshot
  const replaced = portion(failures.length, replicas.length, 'worker')
  const action = `replacing ${replaced} while the others continue (${describeCount(snapshot, decision)})`
  const summary = { reason: first.reason, message: `${describeFailure(first)}; ${action}`, isReady: false }
  const failedPods = failures.flatMap(({ member }) => member.pod?.metadata.uid ?? [])
  return makePlan(
    snapshot,
    {
      ...keepRecorded(snapshot, { state: job.status?.state ?? 'Running', ...summary }),
      failedPods: [...(job.status?.failedPods ?? []), ...failedPods],
      failures: failuresAfter(snapshot, decision),
      unexplainedLosses: lossesAfter(job, first),
      lastFailure: lastFailureOf(first, observed, decision.counted),
      ...restartTimeAfter(pauseOf(snapshot, first, decision), observed.now),
    },
    { events: [workerFailed(first, action)] },
  )
}

const restartTimeAfter = (pause: number, now: number): { readonly restartTime?: string } =>
  pause > 0 ? { restartTime: notBefore(now + pause) } : {}

function failuresAfter({ job }: Snapshot, { counted }: FailureDecision): number {
  return (job.status?.failures ?? 0) + (counted ? 1 : 0)
}

function pauseOf(snapshot: Snapshot, { disrupted }: Failure, decision: FailureDecision): number {
  const { observed, job } = snapshot
  if (disrupted && !decision.counted) return pauseAfterDisruption(job.status, observed.now, observed.config)
  return pauseAfter(failuresAfter(snapshot, decision), observed.config)
}

function describeCount(snapshot: Snapshot, decision: FailureDecision): string {
  if (!decision.counted) return 'not counted against backoffLimit'
  return `failure ${failuresAfter(snapshot, decision)} of ${snapshot.job.spec.backoffLimit} allowed by backoffLimit`
}
