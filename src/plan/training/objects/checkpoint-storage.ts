/**
 * Where the checkpoints of a job are, and what its processes see of them. Training code always writes to a directory: on a
 * claim, or, if the storage is a bucket, in a volume of the pod from which the agent uploads.
 */
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { checkpointClaim, hasCheckpointClaim } from './claims.ts'

const DIRECTORY = '/checkpoints'

export const hasBucket = ({ checkpoint }: TrainingJobSpec): boolean =>
  checkpoint.enabled && checkpoint.storage.type !== 'pvc'

/** The directory of the training code. */
export const checkpointDirectory = (spec: TrainingJobSpec): string =>
  hasBucket(spec) ? DIRECTORY : withoutSlash(spec.checkpoint.storage.path ?? DIRECTORY)

/** The directory on the claim, or the URI in the bucket: the location of a checkpoint is `{root}/{name}`. */
export const checkpointRoot = (spec: TrainingJobSpec): string =>
  hasBucket(spec) ? withoutSlash(spec.checkpoint.storage.path ?? '') : checkpointDirectory(spec)

/** Identifies the storage. Recorded with what was found in it, because an edit of the spec can change it. */
export const storageId = (job: TrainingJob): string =>
  hasCheckpointClaim(job.spec) ? `pvc://${checkpointClaim(job)}${checkpointRoot(job.spec)}` : checkpointRoot(job.spec)

/** Names of checkpoints that the agent chooses and deletes. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
export const isCheckpointName = (name: string): boolean => NAME.test(name) && !name.includes('.replaced-')

/** The name of the checkpoint at this location; undefined if it is not one of this storage. */
export function checkpointNameAt(spec: TrainingJobSpec, location: string): string | undefined {
  const root = `${checkpointRoot(spec)}/`
  const name = location.startsWith(root) ? location.slice(root.length) : ''
  return isCheckpointName(name) ? name : undefined
}

/** The path that a worker sees of a location in the storage. */
export function pathInWorker(spec: TrainingJobSpec, location: string): string {
  const name = checkpointNameAt(spec, location)
  return name === undefined ? location : `${checkpointDirectory(spec)}/${name}`
}

const withoutSlash = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path)
