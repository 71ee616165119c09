/** Why some pods do not run yet. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Pod } from '../../../kube/resources.ts'
import { CONTAINER } from '../names.ts'
import { memberOf } from './member.ts'
import { waitingFor } from './waiting.ts'

const COMMAND = { image: 'i', command: ['train'], gpusPerWorker: 0, checkpoint: { enabled: false } }
const base: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bert-workers-0' } }

const unschedulable = (message: string): Pod => ({
  ...base,
  status: {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  },
})

const container = (reason: string, message: string): Pod => ({
  ...base,
  status: {
    phase: 'Pending',
    containerStatuses: [
      {
        name: CONTAINER,
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason, message } },
      },
    ],
  },
})

const table: readonly { pod: Pod; reason: string; message: RegExp; unschedulable: boolean }[] = [
  {
    pod: unschedulable('0/3 nodes are available: 3 Insufficient nvidia.com/gpu.'),
    reason: 'InsufficientGPU',
    message:
      /^2 of 2 workers waiting for a node with 4 nvidia.com\/gpu each; no schedulable node has any; gpusPerWorker is 4: create the job with gpusPerWorker 0 to train without GPUs: 0\/3 nodes are available/,
    unschedulable: true,
  },
  {
    pod: unschedulable('0/3 nodes are available: 3 Insufficient cpu.'),
    reason: 'InsufficientResources',
    message: /3 Insufficient cpu/,
    unschedulable: true,
  },
  {
    pod: unschedulable('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.'),
    reason: 'VolumeNotBound',
    message: /unbound immediate/,
    unschedulable: true,
  },
  {
    pod: unschedulable("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."),
    reason: 'NoMatchingNode',
    message: /didn't match/,
    unschedulable: true,
  },
  {
    pod: unschedulable('0/3 nodes are available: 3 node(s) had untolerated taint(s).'),
    reason: 'NoMatchingNode',
    message: /untolerated taint/,
    unschedulable: true,
  },
  { pod: unschedulable('no reason given'), reason: 'Unschedulable', message: /no reason given/, unschedulable: true },
  {
    pod: container('ImagePullBackOff', 'Back-off pulling image "i"'),
    reason: 'ImagePullFailed',
    message: /bert-workers-0: ImagePullBackOff: Back-off pulling image "i"; check image and imagePullSecrets/,
    unschedulable: false,
  },
  {
    pod: container('CreateContainerConfigError', 'secret "s3" not found'),
    reason: 'CreateContainerConfigError',
    message: /secret "s3" not found/,
    unschedulable: false,
  },
  {
    pod: container('ContainerCreating', ''),
    reason: 'WorkersStarting',
    message: /^0 of 2 workers running$/,
    unschedulable: false,
  },
]

for (const { pod, reason, message, unschedulable: isUnschedulable } of table) {
  test(`${reason}${isUnschedulable ? ', no node yet' : ''}`, () => {
    const { observed } = new TrainingCluster({ gpusPerWorker: 4, numWorkers: 2 })
    const members = [0, 1].map((index) => memberOf(pod, { role: 'worker', index }))
    const waiting = waitingFor(observed, members)
    assert.equal(waiting.reason, reason)
    assert.match(waiting.message, message)
    assert.equal(waiting.isUnschedulable, isUnschedulable)
  })
}

describe('a scheduler that does not respond', () => {
  const gang = (scheduling: object): TrainingCluster => {
    const cluster = new TrainingCluster({ ...COMMAND, numWorkers: 2, scheduling })
    cluster.settle()
    return cluster
  }

  const wait = (cluster: TrainingCluster, ms: number): void => {
    cluster.now += ms
    cluster.settle()
  }

  test('is reported after two minutes, with its name, once', () => {
    const cluster = gang({ schedulerName: 'second-scheduler' })
    wait(cluster, 119_000)
    assert.equal(cluster.job.status?.state, 'Initializing')
    wait(cluster, 1000)
    assert.equal(cluster.job.status?.state, 'Pending')
    assert.equal(
      cluster.job.status.reason,
      'SchedulerUnresponsive: the scheduler second-scheduler has not considered 2 of 2 workers for 2m: check that it runs, or ' +
        'change scheduling.gang or scheduling.schedulerName',
    )
    wait(cluster, 600_000)
    assert.equal(cluster.events.filter((event) => event === 'SchedulerUnresponsive').length, 1)
  })

  test('is that of the cluster unless pods name another; a queue that may not exist is named', () => {
    const { observed } = gang({ queueName: 'research', gang: 'none' })
    const members = observed.pods.map((pod, index) => memberOf(pod, { role: 'worker', index }))
    const { message } = waitingFor({ ...observed, now: observed.now + 120_000 }, members)
    assert.match(
      message,
      /^the scheduler default-scheduler .* check that it runs and that its queue research exists, or/,
    )
  })

  for (const [what, consider] of [
    ['a pod that it refuses', (cluster: TrainingCluster, pod: Pod) => cluster.findNoNode(pod)],
    ['a pod that runs', (cluster: TrainingCluster, pod: Pod) => cluster.run(pod)],
  ] as const)
    test(`is not reported for ${what}`, () => {
      const cluster = gang({})
      for (const pod of cluster.pods) consider(cluster, pod)
      wait(cluster, 600_000)
      assert.doesNotMatch(cluster.job.status?.reason ?? '', /^SchedulerUnresponsive/)
    })
})

test('names the GPUs of the nodes and those that training jobs leave free', () => {
  const { observed } = new TrainingCluster({ gpusPerWorker: 8, numWorkers: 1 })
  const member = memberOf(unschedulable('0/3 nodes are available: 3 Insufficient nvidia.com/gpu.'), {
    role: 'worker',
    index: 0,
  })
  const gpuNodes = [
    { gpus: 8, held: 2 },
    { gpus: 4, held: 0 },
    { gpus: 4, held: 6 },
  ]
  assert.equal(
    waitingFor({ ...observed, gpuNodes }, [member]).message,
    '1 of 1 worker waiting for a node with 8 nvidia.com/gpu each; the largest node has 8, at most 6 are free on one node ' +
      'and 10 of 16 on all 3 nodes: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.',
  )
})

test('names a claim that does not exist, except the one for checkpoints', () => {
  const { observed } = new TrainingCluster({ dataVolume: { claimName: 'training-data-pvc' } })
  const message =
    'PersistentVolumeClaim training-data-pvc does not exist: create it, or correct checkpoint.storage.claimName, ' +
    'spec.dataVolume or spec.volumes'
  assert.equal(waitingFor(observed, []).message, message)
  const there = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'training-data-pvc' } }
  assert.equal(waitingFor({ ...observed, claims: [there] }, []).reason, 'WorkersStarting')
})

test('the state is Pending while no node is found, with one event', () => {
  const cluster = new TrainingCluster({ gpusPerWorker: 1 })
  cluster.settle()
  const [pod] = cluster.pods
  assert.ok(pod)
  cluster.change({
    ...pod,
    status: unschedulable('0/3 nodes are available: 3 Insufficient nvidia.com/gpu.').status ?? {},
  })
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Pending')
  assert.match(cluster.job.status?.reason ?? '', /^InsufficientGPU: 1 of 1 worker /)
  cluster.settle()
  assert.deepEqual(cluster.events, ['WorkersCreated', 'Created', 'InsufficientGPU'])
})

for (const [storageClass, expected] of [
  ['fast', /^PersistentVolumeClaim bert-checkpoints is not bound: check that StorageClass fast exists/],
  [undefined, /^PersistentVolumeClaim bert-checkpoints is not bound: it has no StorageClass/],
] as const) {
  test(`a claim that is not bound is named, with its class ${storageClass}`, () => {
    const storage = { type: 'pvc', ...(storageClass && { storageClass }) }
    const cluster = new TrainingCluster({ checkpoint: { storage } })
    cluster.settle()
    const [pod] = cluster.pods
    assert.ok(pod)
    const message = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found'
    const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message }
    cluster.change({ ...pod, status: { phase: 'Pending', conditions: [condition] } })
    cluster.claims.splice(
      0,
      1,
      ...cluster.claims.slice(0, 1).map((claim) => ({ ...claim, status: { phase: 'Pending' } })),
    )
    cluster.settle()
    const { reason = '' } = cluster.job.status ?? {}
    assert.match(reason.replace('VolumeNotBound: ', ''), expected)
  })
}
