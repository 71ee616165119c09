/** The volumes of a pod and where they appear: those that every job has, and those that its spec adds. */
import type { TrainingJob, TrainingJobSpec } from '../../api/trainingjob.v1.ts'
import { checkpointDirectory, hasCheckpointClaim } from './claims.ts'
import type { TrainingConfig } from './config.ts'
import { HOSTFILE, KEYS_DIRECTORY } from './environment/mpi.ts'
import { claimName, configMapName, keysName } from './names.ts'

export const DATA_DIRECTORY = '/data'
export const HYPERPARAMETERS_FILE = '/etc/trainingjob/hyperparameters.json'

export interface VolumeMount {
  readonly name: string
  readonly mountPath: string
  readonly subPath?: string
  readonly readOnly?: boolean
}

/** A volume, and its places. */
interface Fitting {
  readonly volume: { readonly name: string } & Readonly<Record<string, unknown>>
  readonly mounts: readonly VolumeMount[]
}

export interface Volumes {
  readonly volumes: readonly Fitting['volume'][]
  readonly volumeMounts: readonly VolumeMount[]
}

/** Where the spec mounts something of its own at one of our places, its word counts. */
export function volumesOf(job: TrainingJob, config: TrainingConfig): Volumes {
  const { volumes = [], volumeMounts = [] } = job.spec
  const fittings = [...checkpoints(job), ...data(job), sharedMemory(config), ...files(job), ...keys(job)]
  const taken = new Set(volumeMounts.map(({ mountPath }) => mountPath))
  const free = fittings.flatMap(({ mounts }) => mounts).filter(({ mountPath }) => !taken.has(mountPath))
  return {
    volumes: [...fittings.map(({ volume }) => volume), ...volumes],
    volumeMounts: [...free, ...volumeMounts],
  }
}

function checkpoints(job: TrainingJob): Fitting[] {
  if (!hasCheckpointClaim(job.spec)) return []
  return [
    {
      volume: { name: 'checkpoints', persistentVolumeClaim: { claimName: claimName(job) } },
      mounts: [{ name: 'checkpoints', mountPath: checkpointDirectory(job.spec) }],
    },
  ]
}

function data({ spec: { dataVolume } }: TrainingJob): Fitting[] {
  if (!dataVolume) return []
  const { claimName: claim, readOnly } = dataVolume
  const mount = { name: 'data', mountPath: DATA_DIRECTORY, ...(readOnly && { readOnly }) }
  const source = { claimName: claim, ...(readOnly && { readOnly }) }
  return [{ volume: { name: 'data', persistentVolumeClaim: source }, mounts: [mount] }]
}

/** Processes of one worker exchange batches through it; the 64 MB that containers have are too little. */
function sharedMemory({ sharedMemory: sizeLimit }: TrainingConfig): Fitting {
  return {
    volume: { name: 'dshm', emptyDir: { medium: 'Memory', sizeLimit } },
    mounts: [{ name: 'dshm', mountPath: '/dev/shm' }],
  }
}

/** Most is said by the environment alone; a job without anything for a file has no ConfigMap. */
export const hasConfigMap = ({ framework, hyperparameters }: TrainingJobSpec): boolean =>
  framework === 'mpi' || hyperparameters !== undefined

/** Single files, because those do not change under a process that runs: a change reaches all ranks or none. */
function files(job: TrainingJob): Fitting[] {
  if (!hasConfigMap(job.spec)) return []
  const file = (mountPath: string, subPath: string): VolumeMount => ({
    name: 'config',
    mountPath,
    subPath,
    readOnly: true,
  })
  const hostfile = job.spec.framework === 'mpi' ? [file(HOSTFILE, 'hostfile')] : []
  return [
    {
      volume: { name: 'config', configMap: { name: configMapName(job) } },
      mounts: [file(HYPERPARAMETERS_FILE, 'hyperparameters.json'), ...hostfile],
    },
  ]
}

function keys(job: TrainingJob): Fitting[] {
  if (job.spec.framework !== 'mpi') return []
  return [
    {
      volume: { name: 'ssh', secret: { secretName: keysName(job), defaultMode: 0o440 } },
      mounts: [{ name: 'ssh', mountPath: KEYS_DIRECTORY, readOnly: true }],
    },
  ]
}
