/** What `checkpoint.resumeFrom` refers to: a bucket, or the storage of another job in the namespace. */
import { BUCKET_URI } from '../../../api/checkpoint.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { claimName } from '../names.ts'
import { checkpointRoot, hasBucket } from './checkpoint-storage.ts'
import { checkpointClaim, claimNames } from './claims.ts'

export interface ResumeSource {
  /** For the agent: a URI, or the directory where the claim is mounted. */
  readonly root: string
  /** The claim of the other job, mounted read-only. */
  readonly claim?: string
}

const MOUNT_PATH = '/resume-from'
const URI = new RegExp(BUCKET_URI)

/** Name of the other job, if `resumeFrom` is one. */
export function resumedJobName({ spec }: TrainingJob): string | undefined {
  const { enabled, resumeFrom } = spec.checkpoint
  return enabled && resumeFrom !== undefined && !URI.test(resumeFrom) ? resumeFrom : undefined
}

/** `other`: the job with that name, if it still exists. Its claim outlives it, under a name that follows from its own. */
export function resumeSourceOf(job: TrainingJob, other: TrainingJob | undefined): ResumeSource | undefined {
  const { enabled, resumeFrom } = job.spec.checkpoint
  if (!enabled || resumeFrom === undefined) return undefined
  const name = resumedJobName(job)
  if (name === undefined) return { root: resumeFrom }
  if (other && hasBucket(other.spec)) return { root: checkpointRoot(other.spec) }
  const claim = other ? checkpointClaim(other) : claimName({ ...job, metadata: { ...job.metadata, name } })
  return { root: MOUNT_PATH, claim }
}

/** Names of all claims that pods of the job may mount. `other`: the job of `checkpoint.resumeFrom`, if it exists. */
export function watchedClaims(job: TrainingJob, other?: TrainingJob): readonly string[] {
  const source = resumeSourceOf(job, other)?.claim
  return [...new Set([...claimNames(job), ...(source === undefined ? [] : [source])])]
}
