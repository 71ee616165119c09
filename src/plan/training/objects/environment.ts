/**
 * The environment of a pod, by precedence: the identity of the process and its task, which a spec cannot override, then
 * the variables of the spec, then defaults. References are expanded backwards only, so `RANK` is first.
 */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { field, firstOfEach, literal, type Variable, variable } from '../../pod/variable.ts'
import { masterOf, type PodIdentity } from '../frameworks/pod-identity.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { WORKER } from '../names.ts'
import { checkpointDirectory } from './claims.ts'
import { hyperparameterVariables } from './hyperparameters.ts'
import { DATA_DIRECTORY, HYPERPARAMETERS_FILE } from './paths.ts'

export function environment(pod: PodIdentity): Variable[] {
  const { spec } = pod.job
  return firstOfEach([
    ...identity(pod),
    ...frameworkOf(spec).environment(pod),
    ...task(pod),
    ...checkpointing(pod),
    ...(spec.env ?? []),
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

/** Every attempt after the first resumes from the newest checkpoint, if there is one. */
function checkpointing({ job: { spec }, attempt }: PodIdentity): Variable[] {
  const { enabled, frequency, storage } = spec.checkpoint
  if (!enabled) return []
  const directory = literal(checkpointDirectory(spec))
  return [
    ...variable('CHECKPOINT_DIR', directory),
    ...variable('RESUME_FROM_CHECKPOINT', attempt.number > 1 ? directory : undefined),
    ...variable('CHECKPOINT_STORAGE', storage.type),
    ...variable('CHECKPOINT_FREQUENCY', frequency),
  ]
}

export const backendOf = ({ networking, gpusPerWorker }: TrainingJobSpec): string =>
  networking.backend ?? (gpusPerWorker > 0 ? 'nccl' : 'gloo')

const defaults: readonly Variable[] = [
  ...variable('NCCL_DEBUG', 'INFO'),
  ...variable('NCCL_SOCKET_IFNAME', 'eth0'),
  ...variable('PYTHONUNBUFFERED', '1'),
]
