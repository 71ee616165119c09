/**
 * JAX: rank 0 is the coordinator; one process per worker. JAX reads only the address by itself, and the code passes the other
 * variables. Older scripts read the names without prefix.
 */
import { type Variable, variable } from '../../pod/variable.ts'
import { DEFAULT_IMAGE, type Framework, PYTHON_SCRIPT } from './contract.ts'
import { masterOf, type PodIdentity } from './pod-identity.ts'

export const jax: Framework = {
  defaultImage: DEFAULT_IMAGE,
  launch: { command: PYTHON_SCRIPT },
  environment,
}

function environment(pod: PodIdentity): Variable[] {
  const { job, attempt, index } = pod
  const { masterPort } = job.spec.networking
  const master = masterOf(pod)
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
