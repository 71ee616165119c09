/** The volumes of a pod and their mounts: those of every job, of its framework, and of its spec. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { sharedMemoryMount, sharedMemoryVolume } from '../../pod/shared-memory.ts'
import type { TrainingConfig } from '../config.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { configMapName } from '../names.ts'
import { checkpointDirectory, hasBucket } from './checkpoint-storage.ts'
import { checkpointClaim, hasCheckpointClaim } from './claims.ts'
import { hasConfigMap } from './config-map.ts'
import { DATA_DIRECTORY, HYPERPARAMETERS_FILE } from './paths.ts'
import { reportMount, reportVolume } from './reporting.ts'

export interface VolumeMount {
  readonly name: string
  readonly mountPath: string
  readonly subPath?: string
  readonly readOnly?: boolean
}

interface MountedVolume {
  readonly volume: { readonly name: string } & Readonly<Record<string, unknown>>
  readonly mounts: readonly VolumeMount[]
}

export interface Volumes {
  readonly volumes: readonly MountedVolume['volume'][]
  readonly volumeMounts: readonly VolumeMount[]
}

/** A mount of the spec replaces one of ours at the same path. */
export function volumesOf(job: TrainingJob, config: TrainingConfig, isReporting: boolean): Volumes {
  const { volumes = [], volumeMounts = [] } = job.spec
  const reporting = isReporting ? [{ volume: reportVolume, mounts: [reportMount] }] : []
  const mounted: readonly MountedVolume[] = [
    ...checkpoints(job),
    ...data(job),
    sharedMemory(config),
    ...files(job),
    ...secrets(job),
    ...reporting,
  ]
  const replaced = new Set(volumeMounts.map(({ mountPath }) => mountPath))
  const own = mounted.flatMap(({ mounts }) => mounts).filter(({ mountPath }) => !replaced.has(mountPath))
  return {
    volumes: [...mounted.map(({ volume }) => volume), ...volumes],
    volumeMounts: [...own, ...volumeMounts],
  }
}

function checkpoints(job: TrainingJob): MountedVolume[] {
  const mounts = [checkpointMount(job)]
  if (hasBucket(job.spec)) return [{ volume: { name: 'checkpoints', emptyDir: {} }, mounts }]
  if (!hasCheckpointClaim(job.spec)) return []
  return [{ volume: { name: 'checkpoints', persistentVolumeClaim: { claimName: checkpointClaim(job) } }, mounts }]
}

export const checkpointMount = ({ spec }: TrainingJob): VolumeMount => ({
  name: 'checkpoints',
  mountPath: checkpointDirectory(spec),
})

function data({ spec: { dataVolume } }: TrainingJob): MountedVolume[] {
  if (!dataVolume) return []
  const { claimName: claim, readOnly } = dataVolume
  const mount = { name: 'data', mountPath: DATA_DIRECTORY, ...(readOnly && { readOnly }) }
  const source = { claimName: claim, ...(readOnly && { readOnly }) }
  return [{ volume: { name: 'data', persistentVolumeClaim: source }, mounts: [mount] }]
}

function sharedMemory({ sharedMemory: size }: TrainingConfig): MountedVolume {
  return { volume: sharedMemoryVolume(size), mounts: [sharedMemoryMount] }
}

/** Mounted as single files, which do not change under a running process: a change reaches all ranks or none. */
function files(job: TrainingJob): MountedVolume[] {
  if (!hasConfigMap(job.spec)) return []
  const own = [{ key: 'hyperparameters.json', mountPath: HYPERPARAMETERS_FILE }]
  const all = [...own, ...(frameworkOf(job.spec).files ?? [])]
  return [
    {
      volume: { name: 'config', configMap: { name: configMapName(job) } },
      mounts: all.map(({ key, mountPath }) => ({ name: 'config', mountPath, subPath: key, readOnly: true })),
    },
  ]
}

function secrets(job: TrainingJob): MountedVolume[] {
  return (frameworkOf(job.spec).secrets ?? []).map(({ name, volumeName, mountPath }) => ({
    volume: { name: volumeName, secret: { secretName: name(job), defaultMode: 0o440 } },
    mounts: [{ name: volumeName, mountPath, readOnly: true }],
  }))
}
