/** JAX: the coordinator is rank 0; one process per worker. The names without prefix are for older scripts. */
import { type Environment, masterOf } from './placement.ts'
import { variable } from './variable.ts'

export const jax: Environment = (placement) => {
  const { job, attempt, index } = placement
  const { masterPort } = job.spec.networking
  const master = masterOf(placement)
  return [
    ...variable('JAX_COORDINATOR_ADDRESS', `${master}:${masterPort}`),
    ...variable('JAX_NUM_PROCESSES', attempt.worldSize),
    ...variable('JAX_PROCESS_ID', index),
    ...variable('COORDINATOR_ADDRESS', master),
    ...variable('COORDINATOR_PORT', masterPort),
    ...variable('NUM_PROCESSES', attempt.worldSize),
    ...variable('PROCESS_ID', index),
  ]
}
