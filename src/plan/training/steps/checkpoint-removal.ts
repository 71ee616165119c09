/**
 * The end of the pod that works on the checkpoints, when its job is deleted. With `deleteOnCompletion` and a bucket, a pod deletes
 * the checkpoints when the gang is gone. Failures are retried, but a deletion never waits forever: after a while the checkpoints stay, and an event
 * says where.
 */
import type { EventNote } from '../../../decision/plan.ts'
import { toDelete, toWrite } from '../../../decision/plan.ts'
import { millis } from '../../time.ts'
import type { Pod } from '../../../kube/resources.ts'
import type { Changes } from '../engines/contract.ts'
import { TEMPLATE_ANNOTATION } from '../names.ts'
import { removalPod } from '../objects/checkpoint-pod.ts'
import { checkpointRoot, hasBucket } from '../objects/checkpoint-storage.ts'
import { containerOf, isActive, isTerminating, type Member, podsOf } from '../observe/member.ts'
import { errorOf } from '../observe/preparation.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { checkpointsLeft } from '../report/events.ts'

/** From the deletion of the job. */
const GIVE_UP_MS = 600_000
const RETRY_MS = 30_000

export interface CheckpointRemoval extends Changes {
  readonly isDone: boolean
  readonly events: readonly EventNote[]
  readonly requeueAfterMs?: number
}

/** `isHopeless`: nothing can be created any more, because the namespace is being deleted. */
export function removeCheckpoints(snapshot: Snapshot, isHopeless: boolean): CheckpointRemoval {
  const { job, observed, engine, checkpointing: member } = snapshot
  if (engine.hasPods(observed)) return member ? ended(member, false) : WAITING
  if (!job.spec.checkpoint.deleteOnCompletion || !hasBucket(job.spec)) return ended(member, member === undefined)
  return emptyBucket(snapshot, isHopeless)
}

function emptyBucket(snapshot: Snapshot, isHopeless: boolean): CheckpointRemoval {
  const { job, observed, attempt, checkpointing: member } = snapshot
  const left = (millis(job.metadata.deletionTimestamp) ?? observed.now) + GIVE_UP_MS - observed.now
  const pod = removalPod(observed, attempt)
  if (member && templateOf(member.pod) !== templateOf(pod)) return ended(member, false)
  if (member?.phase === 'Succeeded') return ended(member, true)
  if (isHopeless || left <= 0) return { ...ended(member, true), events: [leftBehind(snapshot, isHopeless)] }
  if (!member) return { ...WAITING, writes: toWrite('apply', [pod]), requeueAfterMs: left }
  const retry = untilRetry(member, observed.now)
  return retry > 0 ? { ...WAITING, requeueAfterMs: Math.min(retry, left) } : ended(member, false)
}

const templateOf = (pod: Pod | undefined): string | undefined => pod?.metadata.annotations?.[TEMPLATE_ANNOTATION]

function untilRetry(member: Member, now: number): number {
  if (isActive(member) || isTerminating(member)) return Infinity
  return (millis(containerOf(member)?.state?.terminated?.finishedAt) ?? 0) + RETRY_MS - now
}

const WAITING: CheckpointRemoval = { writes: [], deletions: [], events: [], isDone: false }

const ended = (member: Member | undefined, isDone: boolean): CheckpointRemoval => ({
  ...WAITING,
  deletions: toDelete('graceful', member ? podsOf([member]) : []),
  isDone,
})

function leftBehind({ job, checkpointing: member }: Snapshot, isHopeless: boolean): EventNote {
  const failure = member && !isActive(member) ? errorOf(member) : 'the pod that deletes them did not end in time'
  return checkpointsLeft(checkpointRoot(job.spec), isHopeless ? 'the namespace is being deleted' : failure)
}
