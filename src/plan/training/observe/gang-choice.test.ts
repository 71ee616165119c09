/** Which gang scheduler a job gets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { isTrue } from '../../../../test/sim/training-moves.ts'

const VOLCANO = 'podgroups.scheduling.volcano.sh'
const COSCHEDULING = 'podgroups.scheduling.x-k8s.io'
const NATIVE = 'podgroups.scheduling.k8s.io'

function settled(scheduling: object, served: readonly string[], spec: object = {}): TrainingCluster {
  const command = { image: 'i', command: ['train'], numWorkers: 2, checkpoint: { enabled: false } }
  const cluster = new TrainingCluster({ ...command, scheduling, ...spec })
  cluster.servedKinds = new Set(served)
  cluster.settle()
  return cluster
}

const choices: readonly [name: string, scheduling: object, served: readonly string[], chosen: string][] = [
  ['auto: none without PodGroups', {}, [], 'none'],
  ['auto: the only one', {}, [NATIVE], 'native'],
  ['auto: the first of several', {}, [NATIVE, COSCHEDULING, VOLCANO], 'volcano'],
  ['auto: the one whose scheduler the job names', { schedulerName: 'default-scheduler' }, [VOLCANO, NATIVE], 'native'],
  ['auto: none for a scheduler that is not known', { schedulerName: 'mine' }, [VOLCANO, NATIVE], 'none'],
  ['auto: the one with queues', { queueName: 'research' }, [NATIVE, VOLCANO], 'volcano'],
  ['by name', { gang: 'native' }, [VOLCANO, NATIVE], 'native'],
  ['by name, with another scheduler', { gang: 'volcano', schedulerName: 'mine' }, [VOLCANO], 'volcano'],
  ['none, although there is one', { gang: 'none' }, [VOLCANO], 'none'],
]

for (const [name, scheduling, served, chosen] of choices)
  test(name, () => {
    const { job, pods, groups } = settled(scheduling, served)
    assert.deepEqual([job.status?.scheduling?.gang, pods.length], [chosen, 2])
    assert.equal(groups.length, chosen === 'none' ? 0 : 1)
  })

test('one pod needs no gang scheduler, unless it names one or a queue', () => {
  const gangOf = (scheduling: object) => settled(scheduling, [VOLCANO], { numWorkers: 1 }).job.status?.scheduling?.gang
  assert.deepEqual(
    [gangOf({}), gangOf({ gang: 'volcano' }), gangOf({ queueName: 'q' })],
    ['none', 'volcano', 'volcano'],
  )
})

test('a schedulerName of the job takes precedence', () => {
  const { pods } = settled({ gang: 'volcano', schedulerName: 'mine' }, [VOLCANO])
  assert.ok(pods.every(({ spec }) => spec?.schedulerName === 'mine'))
})

for (const [scheduling, text] of [
  [{ gang: 'volcano' }, /scheduling.gang is volcano.*PodGroup of scheduling.volcano.sh\/v1beta1: install it/],
  [{ queueName: 'research' }, /scheduling.queueName is research.*no gang scheduler with queues/],
] as const)
  test(`${JSON.stringify(scheduling)}: creates nothing and says why, until the cluster serves it`, () => {
    const cluster = settled(scheduling, [])
    assert.deepEqual([cluster.job.status?.state, cluster.pods.length], ['Pending', 0])
    assert.match(cluster.job.status?.reason ?? '', /^GangSchedulerUnavailable: /)
    assert.match(cluster.job.status?.reason ?? '', text)
    assert.deepEqual(cluster.events, ['GangSchedulerUnavailable'])
    assert.equal(cluster.pass()?.requeueAfterMs, 30_000)
    cluster.servedKinds = new Set([VOLCANO])
    cluster.settle()
    assert.deepEqual([cluster.pods.length, cluster.groups.length], [2, 1])
  })

test('a named scheduler that goes away while pods wait is reported, and the pods stay', () => {
  const cluster = settled({ gang: 'volcano' }, [VOLCANO])
  cluster.servedKinds = new Set()
  cluster.settle()
  assert.match(cluster.job.status?.reason ?? '', /^GangSchedulerUnavailable: /)
  assert.equal(cluster.pods.length, 2)
})

test('an edit takes effect at once before a pod has started, and with the next attempt afterwards', () => {
  const cluster = settled({}, [VOLCANO])
  cluster.edit({ scheduling: { gang: 'none' } })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.scheduling?.gang, cluster.groups, cluster.pods.length], ['none', [], 2])
  cluster.runAll()
  cluster.settle()
  cluster.edit({ scheduling: { gang: 'volcano' } })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.scheduling?.gang, cluster.groups], ['none', []])
  assert.ok(isTrue(cluster, 'ChangePending'))
})
