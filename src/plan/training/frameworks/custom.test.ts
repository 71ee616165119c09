/** The environment of framework custom. */
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase, MASTER } from '../../../../test/fixtures/training-environment.ts'

const cases: readonly EnvironmentCase[] = [
  {
    name: 'custom',
    spec: { framework: 'custom', numWorkers: 2 },
    index: 1,
    has: { RANK: '1', WORLD_SIZE: '2', MASTER_ADDR: MASTER },
  },
]

for (const entry of cases) test(entry.name, () => assertEnvironment(entry))
