/**
 * A job is accepted by one write to its metadata, before anything is made for it: the finalizer and, with it, the size of
 * the first attempt. So that attempt is on record before its first pod, and its status may wait until there are pods to
 * speak of. The write carries the version that was seen: a spec that has changed meanwhile is looked at again first.
 */
import { MAX_WORKERS, type TrainingJob } from '../../api/trainingjob.v1.ts'
import { FINALIZER, FIRST_ATTEMPT_ANNOTATION } from './names.ts'

export interface Acceptance {
  readonly finalizers: readonly string[]
  readonly annotations?: Readonly<Record<string, string>>
}

/** What has to be written to the job's metadata before anything else; undefined when it is there. */
export function acceptanceOf(job: TrainingJob): Acceptance | undefined {
  const { uid, finalizers = [] } = job.metadata
  const { suspend, numWorkers } = job.spec
  const isGuarded = finalizers.includes(FINALIZER)
  const isOnRecord = job.status?.attempts !== undefined || firstSizeOf(job) !== undefined
  if (isGuarded && (isOnRecord || suspend)) return undefined
  return {
    finalizers: isGuarded ? finalizers : [...finalizers, FINALIZER],
    ...(!isOnRecord && !suspend && { annotations: { [FIRST_ATTEMPT_ANNOTATION]: `${uid}/${numWorkers}` } }),
  }
}

/** Workers of the first attempt. It names its job, so that a copy of the manifest under another name begins afresh. */
export function firstSizeOf({ metadata }: TrainingJob): number | undefined {
  const [uid, text] = metadata.annotations?.[FIRST_ATTEMPT_ANNOTATION]?.split('/') ?? []
  const size = Number(text)
  const isSize = Number.isInteger(size) && size >= 1 && size <= MAX_WORKERS
  return isSize && uid === metadata.uid ? size : undefined
}
