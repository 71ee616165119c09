import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../test/sim/training-cluster.ts'
import { defaultTrainingConfig } from '../plan/training/index.ts'
import { type GatherDeps, gatherTraining } from './gather-training.ts'

/** A job whose first worker has failed, as the caches show it. */
function failedWorker(failureLogs: boolean): { cluster: TrainingCluster; deps: GatherDeps } {
  const cluster = new TrainingCluster({ image: 'i', command: ['train'] })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 1 })
  const nothing = { get: () => undefined, list: () => [] }
  const caches = {
    jobs: nothing,
    workloads: nothing,
    claims: nothing,
    nodes: nothing,
    pods: { byLabel: () => cluster.pods },
  }
  const deps = {
    caches: caches as unknown as GatherDeps['caches'],
    config: { ...defaultTrainingConfig, failureLogs },
    now: cluster.now,
    readLog: () => Promise.resolve('secret'),
    readMembers: () => Promise.resolve({ pods: cluster.pods }),
  }
  return { cluster, deps }
}

for (const failureLogs of [true, false]) {
  test(`failureLogs ${failureLogs}: the log of a failed worker is ${failureLogs ? '' : 'not '}read`, async () => {
    const { cluster, deps } = failedWorker(failureLogs)
    const { logTails } = await gatherTraining(cluster.job, deps)
    assert.deepEqual([...logTails.values()], failureLogs ? ['secret'] : [])
  })
}
