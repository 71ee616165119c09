/** The environment that TensorFlow reads, as its documentation says. */
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase, MASTER } from '../../../../test/fixtures/training-environment.ts'

const cases: readonly EnvironmentCase[] = [
  {
    name: 'tensorflow with workers only',
    spec: { framework: 'tensorflow', numWorkers: 2, networking: { masterPort: 2222 } },
    index: 1,
    has: {
      TF_CONFIG: JSON.stringify({
        cluster: { worker: [`${MASTER}:2222`, 'bert-workers-1.bert-workers:2222'] },
        task: { type: 'worker', index: 1 },
      }),
    },
  },
  {
    name: 'tensorflow: a chief and parameter servers belong to the cluster, the evaluator does not',
    spec: {
      framework: 'tensorflow',
      numWorkers: 1,
      roles: [{ name: 'chief' }, { name: 'ps', replicas: 2 }, { name: 'evaluator' }],
    },
    role: 'evaluator',
    has: {
      TF_CONFIG: JSON.stringify({
        cluster: {
          chief: ['bert-chief-0.bert-workers:29500'],
          ps: ['bert-ps-0.bert-workers:29500', 'bert-ps-1.bert-workers:29500'],
          worker: [`${MASTER}:29500`],
        },
        task: { type: 'evaluator', index: 0 },
      }),
    },
    not: ['RANK'],
  },
  { name: 'tensorflow alone', spec: { framework: 'tensorflow' }, not: ['TF_CONFIG'] },
  {
    name: 'engine job: host names and index are those of the Job',
    spec: { numWorkers: 3, engine: 'job', framework: 'tensorflow' },
    index: 2,
    has: {
      RANK: '2',
      MASTER_ADDR: 'bert-job-0.bert-workers',
      TF_CONFIG: JSON.stringify({
        cluster: { worker: [0, 1, 2].map((index) => `bert-job-${index}.bert-workers:29500`) },
        task: { type: 'worker', index: 2 },
      }),
    },
  },
]

for (const entry of cases) test(entry.name, () => assertEnvironment(entry))
