/**
 * A job is accepted by one write to its metadata, before anything is created for it: the finalizer and the size of the
 * first attempt. So the attempt is recorded before its first pod, and the first status can wait until there are pods to
 * report. The write carries the observed resourceVersion: if the spec has changed meanwhile, it is rejected and retried.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { FINALIZER, FIRST_ATTEMPT_ANNOTATION } from '../names.ts'
import { firstSizeOf } from '../observe/attempt.ts'

export interface Acceptance {
  readonly finalizers: readonly string[]
  readonly annotations?: Readonly<Record<string, string>>
}

/** What to write to the metadata of the job before anything else; undefined if nothing is missing. */
export function acceptanceOf(job: TrainingJob): Acceptance | undefined {
  const { uid, finalizers = [] } = job.metadata
  const { suspend, numWorkers } = job.spec
  const hasFinalizer = finalizers.includes(FINALIZER)
  const isRecorded = job.status?.attempts !== undefined || firstSizeOf(job) !== undefined
  if (hasFinalizer && (isRecorded || suspend)) return undefined
  return {
    finalizers: hasFinalizer ? finalizers : [...finalizers, FINALIZER],
    ...(!isRecorded && !suspend && { annotations: { [FIRST_ATTEMPT_ANNOTATION]: `${uid}/${numWorkers}` } }),
  }
}
