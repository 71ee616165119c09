/** The PersistentVolumeClaims of a job: the one for checkpoints, which the operator creates, and those of the spec. */
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { PersistentVolumeClaim } from '../../../kube/resources.ts'
import type { TrainingConfig } from '../config.ts'
import { rolesOf } from '../frameworks/roles.ts'
import { claimName, JOB_UID_LABEL, objectLabels } from '../names.ts'

/** Names of all claims that the pods mount. */
export function claimNames(job: TrainingJob): readonly string[] {
  const { dataVolume, volumes = [] } = job.spec
  const own = hasCheckpointClaim(job.spec) ? [checkpointClaim(job)] : []
  const others = volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
  return [...new Set([...own, ...(dataVolume ? [dataVolume.claimName] : []), ...others])]
}

export const hasCheckpointClaim = ({ checkpoint }: TrainingJobSpec): boolean =>
  checkpoint.enabled && checkpoint.storage.type === 'pvc'

/** The claim with the checkpoints: one of the spec, or the one that the operator creates. */
export const checkpointClaim = (job: TrainingJob): string => job.spec.checkpoint.storage.claimName ?? claimName(job)

/**
 * Checkpoints outlive their job: the claim has no owner, and a job of the same name reuses it. The uid label names the job
 * that it was created for, the only one that may delete it.
 */
export function checkpointClaims(job: TrainingJob, config: TrainingConfig): PersistentVolumeClaim[] {
  const { size, storageClass, claimName: existing } = job.spec.checkpoint.storage
  if (!hasCheckpointClaim(job.spec) || existing !== undefined) return []
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claimName(job),
        labels: {
          ...objectLabels(job, 'checkpoint'),
          component: 'checkpoint',
          [JOB_UID_LABEL]: job.metadata.uid ?? '',
        },
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
  return [podsOf(spec) === 1 ? 'ReadWriteOnce' : 'ReadWriteMany']
}

const podsOf = (spec: TrainingJobSpec): number =>
  rolesOf(spec).reduce((sum, { replicas }) => sum + replicas, spec.numWorkers)

/** Several pods share a volume that one node at a time can mount. On other nodes they would never start. */
export function needsOneNode(spec: TrainingJobSpec, config: TrainingConfig): boolean {
  const { claimName: existing } = spec.checkpoint.storage
  if (!hasCheckpointClaim(spec) || existing !== undefined || podsOf(spec) === 1) return false
  return accessModesOf(spec, config).every((mode) => mode === 'ReadWriteOnce')
}

/** The claim to delete with the job: only if the spec says so, and if it was created for this job. */
export function discardedClaims(job: TrainingJob, claims: readonly PersistentVolumeClaim[]): PersistentVolumeClaim[] {
  if (!job.spec.checkpoint.deleteOnCompletion) return []
  return claims.filter(
    ({ metadata }) => metadata.name === claimName(job) && metadata.labels?.[JOB_UID_LABEL] === job.metadata.uid,
  )
}
