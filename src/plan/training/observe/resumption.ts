/** Where the pods of an attempt resume from: recorded before the attempt starts. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { isElastic } from '../frameworks/elasticity.ts'
import { checkpointDirectory, checkpointNameAt, hasBucket, storageId } from '../objects/checkpoint-storage.ts'
import type { Attempt } from './attempt.ts'

/**
 * The processes of an elastic gang are started again in their pod, long after it was created. So they get the directory,
 * whose newest checkpoint they take at each start. With a bucket, a worker that is replaced alone gets the newest checkpoint.
 */
export function resumptionOf(job: TrainingJob, attempt: Attempt): string | undefined {
  const { checkpoint } = job.status ?? {}
  if (!job.spec.checkpoint.enabled || !checkpoint) return undefined
  const isPrepared = checkpoint.attempt === attempt.number && checkpoint.storage === storageId(job)
  const recorded = isPrepared ? checkpoint.resumedFrom : undefined
  if (!isElastic(job.spec)) return recorded
  const { latest = '' } = checkpoint
  const newest = checkpointNameAt(job.spec, latest) === undefined ? recorded : latest
  return newest === undefined || hasBucket(job.spec) ? newest : checkpointDirectory(job.spec)
}

/** Whether the checkpoints have to be listed before this attempt starts. */
export function needsPreparation(job: TrainingJob, attempt: Attempt): boolean {
  const { enabled, resumeFrom } = job.spec.checkpoint
  if (!enabled || (attempt.number <= 1 && resumeFrom === undefined)) return false
  const { checkpoint } = job.status ?? {}
  return checkpoint?.attempt !== attempt.number || checkpoint.storage !== storageId(job)
}
