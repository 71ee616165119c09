/**
 * Failures of members. A disruption came from outside: the pod was preempted, evicted or deleted, or its node was lost. It
 * is not counted against backoffLimit, except for repeated unexplained losses: see `lossesAfter`. Everything else is a
 * failure of the training process. It counts once per attempt, however many members fail: the first explains the others.
 */
import type { LastFailure } from '../../../api/training-status.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Pod } from '../../../kube/resources.ts'
import { millis, timestamp } from '../../time.ts'
import { ATTEMPT_LABEL } from '../names.ts'
import { attemptOf } from './attempt.ts'
import { DELETED, disruptionOf } from './disruption.ts'
import { containerOf, type Member, phaseOf } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import { isFinished } from './state.ts'

export interface Failure {
  readonly member: Member
  readonly reason: string
  readonly message: string
  readonly exitCode?: number
  readonly disrupted: boolean
  /** The pod is gone and no cause was observed: it may have been deleted, or may have failed and then been deleted. */
  readonly isUnexplained?: true
  /** Time of the failure, as far as known. */
  readonly at: number
}

/**
 * The failures of these members, the cause first: the earliest, and of two at the same time a disruption. A Job deletes
 * its other pods when one fails, so with engine `job` a deletion is the cause only if there is no other failure.
 */
export function failuresOf(observed: TrainingObserved, members: readonly Member[]): Failure[] {
  const { engine } = observed.job.spec
  const isEffect = ({ reason }: Failure): boolean => engine === 'job' && reason === DELETED
  return members
    .flatMap((member) => failureOf(observed, member) ?? [])
    .toSorted(
      (one, other) =>
        Number(isEffect(one)) - Number(isEffect(other)) ||
        one.at - other.at ||
        Number(other.disrupted) - Number(one.disrupted) ||
        byIndex(one, other),
    )
}

const byIndex = (one: Failure, other: Failure): number => one.member.index - other.member.index

function failureOf(observed: TrainingObserved, member: Member): Failure | undefined {
  if (member.phase === 'Succeeded') return undefined
  const disruption = disruptionOf(observed, member)
  if (disruption) return { member, disrupted: true, ...disruption }
  return member.phase === 'Failed' ? exitOf(observed, member) : undefined
}

function exitOf({ now }: TrainingObserved, member: Member): Failure {
  const ended = containerOf(member)?.state?.terminated
  const { reason = 'Error', message } = member.pod?.status ?? {}
  if (!ended) return { member, reason, message: message ?? 'The pod failed', disrupted: false, at: now }
  const { exitCode, reason: why = 'Error', message: terminationMessage, finishedAt } = ended
  return {
    member,
    reason: why,
    message: terminationMessage ?? message ?? `exit code ${exitCode}`,
    exitCode,
    disrupted: false,
    at: millis(finishedAt) ?? now,
  }
}

/** A member that existed, has not succeeded, and is gone without an observed cause. */
export function lossOf(member: Member, now: number): Failure {
  const message = 'The pod is gone and no cause was observed'
  return { member, reason: 'PodLost', message, disrupted: true, isUnexplained: true, at: now }
}

const MAX_REASON = 128
const MAX_MESSAGE = 1024
const MAX_LOG = 4096

export function lastFailureOf(failure: Failure, observed: TrainingObserved, counted: boolean): LastFailure {
  const { member, reason, message, exitCode } = failure
  const node = member.pod?.spec?.nodeName
  const log = observed.logTails.get(member.pod?.metadata.uid ?? '')
  return {
    time: timestamp(observed.now),
    attempt: member.attempt,
    role: member.role,
    worker: member.index,
    podName: member.podName,
    ...(node !== undefined && { node }),
    ...(exitCode !== undefined && { exitCode }),
    reason: reason.slice(0, MAX_REASON),
    message: message.slice(0, MAX_MESSAGE),
    ...(log !== undefined && { log: log.slice(-MAX_LOG) }),
    counted,
  }
}

/** Whether the last log lines of this pod explain a failure that is not recorded yet. */
export function needsLog(job: TrainingJob, pod: Pod): boolean {
  const { uid = '', labels = {} } = pod.metadata
  if (phaseOf(pod) !== 'Failed' || isFinished(job)) return false
  return labels[ATTEMPT_LABEL] === String(attemptOf(job).number) && !job.status?.failedPods?.includes(uid)
}
