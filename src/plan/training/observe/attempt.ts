/**
 * An attempt: one start of the gang. Its number and size are recorded together before its first pod is created, for the
 * first attempt in the metadata of the job, for all others in the status. A changed size is another attempt. So every rank
 * of an attempt has the same world size, however often the operator restarts meanwhile.
 */
import { MAX_WORKERS, type TrainingJob, type TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { FIRST_ATTEMPT_ANNOTATION } from '../names.ts'

export interface Attempt {
  /** Counted from 1; 0 before the first. */
  readonly number: number
  /** Number of workers. */
  readonly worldSize: number
}

/** One pod of the gang: its role and its index within the role. The index of a worker is its rank. */
export interface Replica {
  readonly role: string
  readonly index: number
}

export const replicaKey = ({ role, index }: Replica): string => `${role}/${index}`

export function attemptOf(job: TrainingJob): Attempt {
  const { attempts, worldSize = 0 } = job.status ?? {}
  if (attempts !== undefined) return { number: attempts, worldSize }
  const size = firstSizeOf(job)
  return size === undefined ? { number: 0, worldSize: 0 } : { number: 1, worldSize: size }
}

/** Workers of the first attempt. The annotation has the uid of its job: a copy of the manifest starts afresh. */
export function firstSizeOf({ metadata }: TrainingJob): number | undefined {
  const [uid, text] = metadata.annotations?.[FIRST_ATTEMPT_ANNOTATION]?.split('/') ?? []
  const size = Number(text)
  const isValid = Number.isInteger(size) && size >= 1 && size <= MAX_WORKERS
  return isValid && uid === metadata.uid ? size : undefined
}

export const procsPerWorker = ({ procsPerWorker: wanted, gpusPerWorker }: TrainingJobSpec): number =>
  wanted ?? Math.max(1, gpusPerWorker)
