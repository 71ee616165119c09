/** The environment for XGBoost and LightGBM. */
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase, MASTER } from '../../../../test/fixtures/training-environment.ts'

const cases: readonly EnvironmentCase[] = [
  {
    name: 'xgboost and LightGBM',
    spec: { framework: 'xgboost', numWorkers: 2, gpusPerWorker: 4 },
    index: 1,
    has: {
      DMLC_TRACKER_URI: MASTER,
      DMLC_TRACKER_PORT: '29500',
      DMLC_TASK_ID: '1',
      DMLC_NUM_WORKER: '8',
      WORKER_ADDRS: `${MASTER},bert-workers-1.bert-workers`,
      WORKER_PORT: '29500',
      RANK: '1',
      WORLD_SIZE: '2',
    },
  },
]

for (const entry of cases) test(entry.name, () => assertEnvironment(entry))
