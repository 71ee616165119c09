/**
 * PyTorch: `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT`, which every worker has, are all that a plain script needs.
 * torchrun reads its options from `PET_*`; what the command line says goes before.
 *
 * Elastic: torchrun's own rendezvous at rank 0, between the fewest workers allowed and the size of this attempt. With the
 * size as upper bound it begins as soon as all are there, instead of waiting for more who will not come.
 */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { procsPerWorker } from '../attempt.ts'
import { type Environment, masterOf, type Placement } from './placement.ts'
import { type Variable, variable } from './variable.ts'

export const pytorch: Environment = (placement) => {
  const { spec } = placement.job
  return [
    ...variable('PET_NPROC_PER_NODE', procsPerWorker(spec)),
    ...variable('PET_NODE_RANK', placement.index),
    ...(isElasticTorch(spec) ? elastic(placement) : fixed(placement)),
  ]
}

/** Whether the workers themselves get over the loss of one of them. A plain script does not, elastic or not. */
export function isElasticTorch({ framework, elastic: bounds, engine, command }: TrainingJobSpec): boolean {
  const words = command?.join(' ') ?? ''
  return framework === 'pytorch' && engine === 'pods' && bounds !== undefined && TORCHRUN.test(words)
}

const TORCHRUN = /(^|[\s/])torchrun(\s|$)|torch\.distributed\.run\b/

function fixed(placement: Placement): Variable[] {
  return [
    ...variable('PET_NNODES', placement.attempt.worldSize),
    ...variable('PET_MASTER_ADDR', masterOf(placement)),
    ...variable('PET_MASTER_PORT', placement.job.spec.networking.masterPort),
  ]
}

function elastic(placement: Placement): Variable[] {
  const { job, attempt } = placement
  const { elastic: bounds, networking, backoffLimit } = job.spec
  const fewest = Math.min(bounds?.minWorkers ?? 1, attempt.worldSize)
  return [
    ...variable('PET_NNODES', `${fewest}:${attempt.worldSize}`),
    ...variable('PET_RDZV_BACKEND', 'c10d'),
    ...variable('PET_RDZV_ENDPOINT', `${masterOf(placement)}:${networking.masterPort}`),
    ...variable('PET_RDZV_ID', `${job.metadata.name}-${attempt.number}`),
    ...variable('PET_MAX_RESTARTS', backoffLimit),
  ]
}
