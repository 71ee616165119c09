/**
 * A gang that waits too long with only some of its nodes gives them back. The next attempt is recorded and starts after a
 * pause; the passes that follow delete the pods. It does not count against backoffLimit.
 */
import { quantify } from '../../counted.ts'
import { formatDuration, notBefore } from '../../time.ts'
import { memberNoun } from '../frameworks/roles.ts'
import { gangTimeoutSeconds, partialGang, pauseAfterRelease, untilRelease } from '../observe/partial-gang.ts'
import { gangReleased } from '../report/events.ts'
import { portion } from '../report/wording.ts'
import { makePlan, nextAttempt, type Step } from './step.ts'

export const releaseNodes: Step = (snapshot) => {
  const { job, observed, replicas } = snapshot
  const partial = partialGang(snapshot)
  if (!partial || untilRelease(snapshot) !== 0) return undefined
  const next = nextAttempt(snapshot)
  const releases = (job.status?.scheduling?.releases ?? 0) + 1
  const pause = pauseAfterRelease(snapshot, releases)
  const message =
    `${portion(partial.waiting, replicas.length, memberNoun(job.spec))} found no node within ` +
    `${formatDuration(gangTimeoutSeconds(observed) * 1000)} (scheduling.gangTimeoutSeconds); giving ${quantify(partial.placed, 'node')} back ` +
    `and trying again in ${formatDuration(pause)} (attempt ${next.attempt.number}, not counted against backoffLimit)`
  return makePlan(
    snapshot,
    {
      state: 'Pending',
      reason: 'GangTimedOut',
      message,
      isReady: false,
      ...next,
      releases,
      ...(pause > 0 && { restartTime: notBefore(observed.now + pause) }),
    },
    { events: [gangReleased(message)] },
  )
}
