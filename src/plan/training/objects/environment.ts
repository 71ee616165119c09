/**
 * The environment of a pod, by precedence: the identity of the process and its task, which a spec cannot override, then
 * the variables of the spec, then defaults. References are expanded backwards only, so `RANK` is first.
 */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { field, firstOfEach, literal, renderVariable, type Variable, variable } from '../../pod/variable.ts'
import { masterOf, type PodIdentity } from '../frameworks/pod-identity.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { WORKER } from '../names.ts'
import { checkpointDirectory, checkpointRoot, hasBucket, pathInWorker } from './checkpoint-storage.ts'
import { hyperparameterVariables } from './hyperparameters.ts'
import { DATA_DIRECTORY, HYPERPARAMETERS_FILE } from './paths.ts'

/** What differs between pods of one template. */
export interface Start {
  /** The variables for progress reports. */
  readonly reporting?: readonly Variable[]
  /** The location of the checkpoint to resume from. */
  readonly resumeFrom?: string | undefined
  /** Number of checkpoints to keep. */
  readonly keepLast?: number | undefined
}

export function environment(pod: PodIdentity, start: Start = {}): Variable[] {
  const { spec } = pod.job
  return firstOfEach([
    ...identity(pod),
    ...frameworkOf(spec).environment(pod),
    ...task(pod),
    ...checkpointing(pod, start),
    ...(start.reporting ?? []),
    ...(spec.env ?? []).map(renderVariable),
    ...hyperparameterVariables(spec),
    ...defaults,
  ])
}

/** Which process of the gang this is, and where rank 0 is. */
function identity(pod: PodIdentity): Variable[] {
  const { job, attempt, role, rank } = pod
  return [
    ...(role === WORKER ? [rank] : []),
    field('POD_NAME', 'metadata.name'),
    field('POD_IP', 'status.podIP'),
    ...variable('WORLD_SIZE', attempt.worldSize),
    ...variable('MASTER_ADDR', masterOf(pod)),
    ...variable('MASTER_PORT', job.spec.networking.masterPort),
    ...variable('TRAININGJOB_NAME', job.metadata.name),
    ...variable('TRAININGJOB_ROLE', role),
    ...variable('TRAININGJOB_ATTEMPT', attempt.number),
  ]
}

/** What to train, and with what. */
function task({ job: { spec }, attempt }: PodIdentity): Variable[] {
  return [
    ...variable('MODEL', spec.model && literal(spec.model)),
    ...variable('DATASET', spec.dataset && literal(spec.dataset)),
    ...variable('NUM_WORKERS', attempt.worldSize),
    ...variable('GPUS_PER_WORKER', spec.gpusPerWorker),
    ...variable('DISTRIBUTED_BACKEND', backendOf(spec)),
    ...variable('DATA_DIR', spec.dataVolume && DATA_DIRECTORY),
    ...variable('HYPERPARAMETERS_FILE', spec.hyperparameters && HYPERPARAMETERS_FILE),
  ]
}

function checkpointing({ job: { spec } }: PodIdentity, { resumeFrom, keepLast }: Start): Variable[] {
  const { enabled, frequency, storage } = spec.checkpoint
  if (!enabled) return []
  return [
    ...variable('CHECKPOINT_DIR', literal(checkpointDirectory(spec))),
    ...variable('CHECKPOINT_URI', hasBucket(spec) ? literal(checkpointRoot(spec)) : undefined),
    ...variable('RESUME_FROM_CHECKPOINT', resumeFrom && literal(pathInWorker(spec, resumeFrom))),
    ...variable('CHECKPOINT_STORAGE', storage.type),
    ...variable('CHECKPOINT_FREQUENCY', frequency),
    ...variable('CHECKPOINT_KEEP_LAST', keepLast),
  ]
}

export const backendOf = ({ networking, gpusPerWorker }: TrainingJobSpec): string =>
  networking.backend ?? (gpusPerWorker > 0 ? 'nccl' : 'gloo')

const defaults: readonly Variable[] = [
  ...variable('NCCL_DEBUG', 'INFO'),
  ...variable('NCCL_SOCKET_IFNAME', 'eth0'),
  ...variable('PYTHONUNBUFFERED', '1'),
]
