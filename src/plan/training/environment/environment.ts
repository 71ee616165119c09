/**
 * The environment of a pod, in the order of authority: who the process is among the others (which nobody may change), what
 * the spec says, what we suggest. References resolve backwards only, so `RANK` stands first.
 */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { checkpointDirectory } from '../claims.ts'
import { WORKER } from '../names.ts'
import { DATA_DIRECTORY, HYPERPARAMETERS_FILE } from '../volumes.ts'
import { custom } from './custom.ts'
import { hyperparameterVariables } from './hyperparameters.ts'
import { jax } from './jax.ts'
import { mpi } from './mpi.ts'
import { type Environment, masterOf, type Placement } from './placement.ts'
import { pytorch } from './pytorch.ts'
import { tensorflow } from './tensorflow.ts'
import { field, firstOfEach, literal, type Variable, variable } from './variable.ts'
import { xgboost } from './xgboost.ts'

const frameworks: Readonly<Record<TrainingJobSpec['framework'], Environment>> = {
  pytorch,
  tensorflow,
  xgboost,
  jax,
  mpi,
  custom,
}

export function environment(placement: Placement): Variable[] {
  const { spec } = placement.job
  return firstOfEach([
    ...identity(placement),
    ...frameworks[spec.framework](placement),
    ...task(placement),
    ...checkpointing(placement),
    ...(spec.env ?? []),
    ...hyperparameterVariables(spec),
    ...suggestions,
  ])
}

/** Which of the gang this process is. */
function identity(placement: Placement): Variable[] {
  const { job, attempt, role, rank } = placement
  return [
    ...(role === WORKER ? [rank] : []),
    field('POD_NAME', 'metadata.name'),
    field('POD_IP', 'status.podIP'),
    ...variable('WORLD_SIZE', attempt.worldSize),
    ...variable('MASTER_ADDR', masterOf(placement)),
    ...variable('MASTER_PORT', job.spec.networking.masterPort),
    ...variable('TRAININGJOB_NAME', job.metadata.name),
    ...variable('TRAININGJOB_ROLE', role),
    ...variable('TRAININGJOB_ATTEMPT', attempt.number),
  ]
}

/** What there is to do. */
function task({ job: { spec }, attempt }: Placement): Variable[] {
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

/** An attempt after the first has something to go on from: the latest checkpoint there, if it came to one. */
function checkpointing({ job: { spec }, attempt }: Placement): Variable[] {
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

const suggestions: readonly Variable[] = [
  ...variable('NCCL_DEBUG', 'INFO'),
  ...variable('NCCL_SOCKET_IFNAME', 'eth0'),
  ...variable('PYTHONUNBUFFERED', '1'),
]
