/**
 * After a failure. The decision is stored first, with everything it rests on: what failed, whether it counts, which
 * attempt comes next and when. The passes that follow act on it. Since the failed attempt is then over, whatever else of
 * it fails is never looked at again: no failure is counted twice, and none is forgotten.
 */
import { pauseAfter, pauseAfterDisruption } from './backoff.ts'
import { isElasticTorch } from './environment/pytorch.ts'
import { accountOf, logsOf, workerFailed } from './events.ts'
import { type Failure, failuresOf, lastFailureOf, lossOf } from './failure.ts'
import { type Ruling, rulingOn } from './failure-policy.ts'
import { failed } from './finish.ts'
import { WORKER } from './names.ts'
import { lostSeats, type Scene } from './scene.ts'
import { nextAttempt, plan, type Step, type TrainingPlan, unchanged } from './step.ts'
import { notBefore, spoken } from '../time.ts'

export const restart: Step = (scene) => {
  const failures = news(scene)
  const [first] = failures
  if (!first) return undefined
  const ruling = rulingOn(scene.job, first)
  if (ruling.action === 'fail') return giveUp(scene, first, ruling)
  return isSurvivable(scene, failures)
    ? replaceMembers(scene, failures, first, ruling)
    : restartGang(scene, first, ruling)
}

/** Failures that are not accounted for yet. */
function news(scene: Scene): Failure[] {
  const { observed, job, gang } = scene
  const known = new Set(job.status?.failedPods)
  const fresh = gang.filter(({ pod }) => !known.has(pod?.metadata.uid ?? ''))
  return [...failuresOf(observed, fresh), ...losses(scene)]
}

function losses(scene: Scene): Failure[] {
  const { job, attempt, observed, engine } = scene
  return lostSeats(scene).map((seat) => {
    const name = engine.hostname(job, seat.role, seat.index)
    return lossOf({ ...seat, attempt: attempt.number, podName: name, phase: 'Failed' }, observed.now)
  })
}

function giveUp(scene: Scene, failure: Failure, ruling: Ruling & { readonly action: 'fail' }): TrainingPlan {
  const { job, observed } = scene
  const message = `${accountOf(failure)}; ${ruling.message}. See ${logsOf(job, failure.member.podName)}`
  return failed(scene, ruling.reason, message, {
    lastFailure: lastFailureOf(failure, observed, ruling.counted),
    failures: failuresAfter(scene, ruling),
  })
}

function restartGang(scene: Scene, failure: Failure, ruling: Ruling): TrainingPlan {
  const { observed } = scene
  const next = nextAttempt(scene)
  const pause = pauseOf(scene, failure, ruling)
  const what = `restarting ${next.attempt.worldSize} workers${pause > 0 ? ` in ${spoken(pause)}` : ''} (attempt ${next.attempt.number}${tally(scene, ruling)})`
  return plan(
    scene,
    {
      state: 'Restarting',
      reason: failure.reason,
      message: `${accountOf(failure)}; ${what}`,
      isReady: false,
      ...next,
      failures: failuresAfter(scene, ruling),
      lastFailure: lastFailureOf(failure, observed, ruling.counted),
      ...notBeforePause(observed.now, pause),
    },
    { events: [workerFailed(failure, what)] },
  )
}

/** Elastic workers go on without the others for a while, but not without rank 0, where they meet. */
function isSurvivable({ job }: Scene, failures: readonly Failure[]): boolean {
  return isElasticTorch(job.spec) && failures.every(({ member }) => member.role === WORKER && member.index > 0)
}

/** The attempt goes on; only those who failed are replaced. */
function replaceMembers(scene: Scene, failures: readonly Failure[], first: Failure, ruling: Ruling): TrainingPlan {
  const { job, observed } = scene
  const what = `replacing ${failures.length} of ${scene.seats.length} workers, the others go on${tally(scene, ruling)}`
  const standing = { reason: first.reason, message: `${accountOf(first)}; ${what}`, isReady: false }
  const gone = failures.flatMap(({ member }) => member.pod?.metadata.uid ?? [])
  return plan(
    scene,
    {
      ...unchanged(scene, { state: job.status?.state ?? 'Running', ...standing }),
      failedPods: [...(job.status?.failedPods ?? []), ...gone],
      failures: failuresAfter(scene, ruling),
      lastFailure: lastFailureOf(first, observed, ruling.counted),
      ...notBeforePause(observed.now, pauseOf(scene, first, ruling)),
    },
    { events: [workerFailed(first, what)] },
  )
}

const notBeforePause = (now: number, pause: number): { readonly restartTime?: string } =>
  pause > 0 ? { restartTime: notBefore(now + pause) } : {}

function failuresAfter({ job }: Scene, { counted }: Ruling): number {
  return (job.status?.failures ?? 0) + (counted ? 1 : 0)
}

function pauseOf(scene: Scene, { disrupted }: Failure, ruling: Ruling): number {
  const { observed, job } = scene
  if (disrupted) return pauseAfterDisruption(job.status, observed.now, observed.config)
  return pauseAfter(failuresAfter(scene, ruling), observed.config)
}

function tally(scene: Scene, ruling: Ruling): string {
  return ruling.counted
    ? `, failure ${failuresAfter(scene, ruling)} of ${scene.job.spec.backoffLimit} allowed`
    : ', not counted'
}
