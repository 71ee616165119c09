/**
 * What went wrong with a member, and whose fault it was.
 *
 * A disruption is something that was done to the pod: its node was lost, it was preempted, evicted or deleted. It is
 * never counted. Everything else is a failure of the training process and counts once per attempt, however many members
 * fall over each other: the first to fail in an attempt explains it.
 */
import type { LastFailure } from '../../api/training-status.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Pod } from '../../kube/resources.ts'
import { attemptOf } from './attempt.ts'
import { DELETED, disruptionOf } from './disruption.ts'
import { containerOf, type Member } from './member.ts'
import { ATTEMPT_LABEL } from './names.ts'
import type { TrainingObserved } from './observed.ts'
import { isFinished } from './state.ts'
import { millis, timestamp } from '../time.ts'

export interface Failure {
  readonly member: Member
  readonly reason: string
  readonly message: string
  readonly exitCode?: number
  readonly disrupted: boolean
  /** When it happened, as well as it is known. */
  readonly at: number
}

/**
 * What is wrong with these members, the cause first: the earliest, and of two at once a disruption. But a Job whose pod
 * has failed deletes the others itself, so there a mere deletion explains nothing as long as anything else does.
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
        bySeat(one, other),
    )
}

const bySeat = (one: Failure, other: Failure): number => one.member.index - other.member.index

function failureOf(observed: TrainingObserved, member: Member): Failure | undefined {
  if (member.phase === 'Succeeded') return undefined
  const disruption = disruptionOf(observed, member)
  if (disruption) return { member, disrupted: true, ...disruption }
  return member.phase === 'Failed' ? exitOf(observed, member) : undefined
}

function exitOf({ now }: TrainingObserved, member: Member): Failure {
  const ended = containerOf(member)?.state?.terminated
  const { reason = 'Error', message } = member.pod?.status ?? {}
  if (!ended) return { member, reason, message: message ?? 'the pod failed', disrupted: false, at: now }
  const { exitCode, reason: why = 'Error', message: said, finishedAt } = ended
  return {
    member,
    reason: why,
    message: said ?? message ?? `exit code ${exitCode}`,
    exitCode,
    disrupted: false,
    at: millis(finishedAt) ?? now,
  }
}

/** A member that was there, has not succeeded, and is gone without a trace. */
export function lossOf(member: Member, now: number): Failure {
  return { member, reason: 'PodLost', message: 'the pod has vanished', disrupted: true, at: now }
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

/** Whether the last lines of this pod's log would explain something that the status does not explain yet. */
export function needsLog(job: TrainingJob, pod: Pod): boolean {
  const { uid = '', labels = {} } = pod.metadata
  if (pod.status?.phase !== 'Failed' || isFinished(job)) return false
  return labels[ATTEMPT_LABEL] === String(attemptOf(job).number) && !job.status?.failedPods?.includes(uid)
}
