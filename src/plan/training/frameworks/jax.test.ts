/** The environment for JAX. */
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase, MASTER } from '../../../../test/fixtures/training-environment.ts'

const cases: readonly EnvironmentCase[] = [
  {
    name: 'jax: arguments of jax.distributed.initialize',
    spec: { framework: 'jax', numWorkers: 2 },
    index: 1,
    has: {
      JAX_COORDINATOR_ADDRESS: `${MASTER}:29500`,
      JAX_NUM_PROCESSES: '2',
      JAX_PROCESS_ID: '1',
      COORDINATOR_ADDRESS: MASTER,
      COORDINATOR_PORT: '29500',
      NUM_PROCESSES: '2',
      PROCESS_ID: '1',
    },
  },
]

for (const entry of cases) test(entry.name, () => assertEnvironment(entry))
