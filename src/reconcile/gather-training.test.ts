import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../test/sim/training-cluster.ts'
import { started } from '../../test/sim/training-moves.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { Pod } from '../kube/resources.ts'
import { defaultTrainingConfig, planTraining } from '../plan/training/index.ts'
import { type GatherDeps, gatherTraining } from './gather-training.ts'
import { ProgressWatch } from './progress-watch.ts'

/** Caches of a job with these pods and nothing else. */
function cachesWith(pods: readonly Pod[]): GatherDeps['caches'] {
  const nothing = { get: () => undefined, list: () => [] }
  const others = { jobs: nothing, workloads: nothing, claims: nothing, nodes: nothing }
  return { ...others, groups: [], pods: { byLabel: () => pods } } as unknown as GatherDeps['caches']
}

/** A job whose first worker has failed, as the caches show it. */
function failedWorker(failureLogs: boolean): { cluster: TrainingCluster; deps: GatherDeps } {
  const cluster = new TrainingCluster({ image: 'i', command: ['train'] })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  cluster.exitAll({ exitCode: 1 })
  const deps = {
    caches: cachesWith(cluster.pods),
    config: { ...defaultTrainingConfig, failureLogs },
    now: cluster.now,
    progressWatch: new ProgressWatch({ monotonic: () => 0 }),
    slowWatch: new ProgressWatch({ monotonic: () => 0 }),
    readLog: () => Promise.resolve('secret'),
    readClaimEvent: () => Promise.resolve(undefined),
    readReference: () => Promise.resolve(undefined),
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

interface Pods extends Pick<GatherDeps, 'config' | 'now'> {
  readonly cached: readonly Pod[]
  readonly live: readonly Pod[]
}

/** What is gathered, and how often the pods were read from the API server. */
async function gathered(job: TrainingJob, { cached, live, config, now }: Pods) {
  let reads = 0
  const readMembers = async () => {
    reads += 1
    return { pods: live }
  }
  const absent = async () => undefined
  const reading = { readLog: absent, readClaimEvent: absent, readReference: absent, readMembers }
  const observed = await gatherTraining(job, {
    caches: cachesWith(cached),
    config,
    now,
    progressWatch: new ProgressWatch({ monotonic: () => 0 }),
    slowWatch: new ProgressWatch({ monotonic: () => 0 }),
    ...reading,
  })
  return { observed, reads }
}

for (const [what, cached] of [
  ['no pod', 0],
  ['one pod of two', 1],
] as const) {
  test(`a gang is not restarted because a stale cache shows ${what}`, async () => {
    const { job, pods, config, now } = started({ numWorkers: 2 })
    const { observed, reads } = await gathered(job, { cached: pods.slice(0, cached), live: pods, config, now })
    assert.deepEqual([observed.pods, reads], [pods, 1])
    assert.deepEqual(planTraining(observed).status?.attempts, 1)
  })
}

test('a cache that shows all pods is not checked against the API server', async () => {
  const { job, pods, config, now } = started({ numWorkers: 2 })
  const { observed, reads } = await gathered(job, { cached: pods, live: [], config, now })
  assert.deepEqual([observed.pods, reads], [pods, 0])
})
