/** The PersistentVolumeClaims of a job: the one for checkpoints, which the operator creates, and those of the spec. */
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { PersistentVolumeClaim } from '../../../kube/resources.ts'
import type { TrainingConfig } from '../config.ts'
import { rolesOf } from '../frameworks/roles.ts'
import { claimName, JOB_UID_LABEL, jobLabels } from '../names.ts'

const CHECKPOINT_DIRECTORY = '/checkpoints'

/** Names of all claims that the pods mount. */
export function claimNames(job: TrainingJob): readonly string[] {
  const { dataVolume, volumes = [] } = job.spec
  const own = hasCheckpointClaim(job.spec) ? [claimName(job)] : []
  const others = volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
  return [...new Set([...own, ...(dataVolume ? [dataVolume.claimName] : []), ...others])]
}

export const hasCheckpointClaim = ({ checkpoint }: TrainingJobSpec): boolean =>
  checkpoint.enabled && checkpoint.storage.type === 'pvc'

/** Where the training code writes its checkpoints: a directory, or a prefix in a bucket. */
export const checkpointDirectory = ({ checkpoint }: TrainingJobSpec): string =>
  checkpoint.storage.path ?? CHECKPOINT_DIRECTORY

/**
 * Checkpoints outlive their job: the claim has no owner, and a job of the same name reuses it. The uid label names the job
 * that it was created for, the only one that may delete it.
 */
export function checkpointClaims(job: TrainingJob, config: TrainingConfig): PersistentVolumeClaim[] {
  if (!hasCheckpointClaim(job.spec)) return []
  const { size, storageClass } = job.spec.checkpoint.storage
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claimName(job),
        labels: { ...jobLabels(job), component: 'checkpoint', [JOB_UID_LABEL]: job.metadata.uid ?? '' },
      },
      spec: {
        accessModes: accessModesOf(job.spec, config),
        ...(storageClass !== undefined && { storageClassName: storageClass }),
        resources: { requests: { storage: String(size) } },
      },
    },
  ]
}

/** Block storage, the default of most clusters, offers only ReadWriteOnce, which is enough for one pod. */
function accessModesOf(spec: TrainingJobSpec, { checkpointAccessMode: configured }: TrainingConfig): string[] {
  const { accessModes } = spec.checkpoint.storage
  if (accessModes) return [...new Set(accessModes)]
  if (configured !== 'Auto') return [configured]
  const pods = rolesOf(spec).reduce((sum, { replicas }) => sum + replicas, spec.numWorkers)
  return [pods === 1 ? 'ReadWriteOnce' : 'ReadWriteMany']
}

/** The claim to delete with the job: only if the spec says so, and if it was created for this job. */
export function discardedClaims(job: TrainingJob, claims: readonly PersistentVolumeClaim[]): PersistentVolumeClaim[] {
  if (!job.spec.checkpoint.deleteOnCompletion) return []
  return claims.filter(
    ({ metadata }) => metadata.name === claimName(job) && metadata.labels?.[JOB_UID_LABEL] === job.metadata.uid,
  )
}
