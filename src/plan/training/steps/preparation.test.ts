/** The checkpoints before an attempt: listed, recorded, and only then trained from. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isTrue, MINUTE, podOf, started } from '../../../../test/sim/training-moves.ts'
import { TrainingCluster, trainingJob } from '../../../../test/sim/training-cluster.ts'
import type { Pod } from '../../../kube/resources.ts'
import { planRejection, planTraining } from '../lifecycle.ts'
import { resultOf } from '../observe/preparation.ts'
import { memberOf } from '../observe/member.ts'

const variableOf = ({ spec }: Pod, name: string): string | undefined =>
  spec?.containers[0]?.env?.find((variable) => variable.name === name)?.value
const resumedBy = (cluster: TrainingCluster): string | undefined =>
  variableOf(podOf(cluster, 'bert-workers-0'), 'RESUME_FROM_CHECKPOINT')
const argsOf = ({ spec }: Pod): readonly string[] => spec?.containers[0]?.args ?? []

/** A job whose second attempt has a pod that lists the checkpoints. */
function preparing(spec: object = {}): TrainingCluster {
  const cluster = started({ numWorkers: 2, ...spec })
  cluster.playsCheckpoints = false
  cluster.exit(podOf(cluster, cluster.workload ? 'bert-job-1' : 'bert-workers-1'), { exitCode: 1 })
  for (let round = 0; round < 3; round += 1) {
    cluster.settle()
    cluster.letGo()
  }
  cluster.settle()
  assert.ok(cluster.checkpointPod)
  return cluster
}

function ends(cluster: TrainingCluster, exitCode: number, message?: string): void {
  assert.ok(cluster.checkpointPod)
  cluster.exit(cluster.checkpointPod, { exitCode, ...(message !== undefined && { message }) })
}

function resumes(cluster: TrainingCluster): void {
  cluster.settle()
  cluster.now += 20 * MINUTE
  cluster.settle()
}

describe('an attempt after the first', () => {
  for (const engine of ['pods', 'job'])
    test(`engine ${engine}: starts from the newest complete checkpoint, after the record`, () => {
      const cluster = preparing({ engine })
      cluster.now += MINUTE
      cluster.settle()
      assert.equal(cluster.pods.length, 1, 'no worker before the record')
      cluster.checkpoints = [5, 10]
      cluster.listCheckpoints()
      cluster.pass()
      assert.equal(cluster.job.status?.checkpoint?.attempt, 2)
      assert.equal(cluster.pods.length, 1, 'recorded first')
      resumes(cluster)
      assert.deepEqual(cluster.job.status?.checkpoint, {
        latest: '/checkpoints/step-10',
        step: 10,
        time: '2026-01-01T00:01:00.000Z',
        count: 2,
        resumedFrom: '/checkpoints/step-10',
        attempt: 2,
        storage: 'pvc://bert-checkpoints/checkpoints',
      })
      cluster.controlJob()
      const workers = cluster.pods.filter(({ metadata }) => metadata.name !== 'bert-checkpoints')
      assert.equal(workers.length, 2)
      for (const pod of workers) assert.equal(variableOf(pod, 'RESUME_FROM_CHECKPOINT'), '/checkpoints/step-10')
      assert.equal(cluster.checkpointPod, undefined, 'the pod is gone')
      assert.ok(cluster.events.includes('CheckpointChosen'))
    })

  test('starts from the beginning only if there is no checkpoint, with a warning', () => {
    const cluster = preparing()
    cluster.listCheckpoints()
    resumes(cluster)
    assert.equal(resumedBy(cluster), undefined)
    assert.ok(cluster.events.includes('NoCheckpoint'))
  })

  test('resumes from the directory if it has content in another layout', () => {
    const cluster = preparing({ checkpoint: { storage: { path: '/ckpt' } } })
    ends(cluster, 0, '{"count":0,"pruned":0,"imported":false,"other":true}')
    resumes(cluster)
    assert.equal(resumedBy(cluster), '/ckpt')
  })

  test('lists with the arguments of the spec, as the tenant, in a restricted pod', () => {
    const cluster = preparing({
      checkpoint: { keepLast: 7, storage: { path: '/ckpt/' } },
      serviceAccountName: 'trainer',
    })
    const { checkpointPod: pod } = cluster
    assert.ok(pod?.spec)
    assert.deepEqual(argsOf(pod), ['agent', 'checkpoints-prepare', '--storage=/ckpt', '--keep-last=7'])
    assert.equal(pod.spec.serviceAccountName, 'trainer')
    assert.equal(pod.spec.securityContext?.runAsNonRoot, true)
    assert.deepEqual(
      pod.spec.volumes?.find(({ name }) => name === 'checkpoints')?.persistentVolumeClaim?.claimName,
      'bert-checkpoints',
    )
  })

  test('lists again when the storage changes before the gang starts', () => {
    const cluster = preparing()
    cluster.checkpoints = [5]
    cluster.listCheckpoints()
    cluster.settle()
    const { checkpoint } = cluster.job.spec
    cluster.edit({ checkpoint: { ...checkpoint, storage: { ...checkpoint.storage, claimName: 'other' } } })
    cluster.claims.push({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'other' } })
    cluster.now += 20 * MINUTE
    cluster.settle()
    assert.equal(cluster.pods.length, 1)
    assert.equal(cluster.checkpointPod?.spec?.volumes?.[0]?.persistentVolumeClaim?.claimName, 'other')
    cluster.listCheckpoints()
    resumes(cluster)
    assert.equal(cluster.job.status?.checkpoint?.storage, 'pvc://other/checkpoints')
  })

  test('after suspend and resume, and after a change of size', () => {
    const cluster = started({ numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 } })
    cluster.checkpoints = [3]
    cluster.edit({ suspend: true })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    cluster.edit({ suspend: false })
    cluster.settle()
    assert.equal(resumedBy(cluster), '/checkpoints/step-3')
    cluster.runAll()
    cluster.settle()
    cluster.checkpoints = [3, 6]
    cluster.edit({ numWorkers: 3 })
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.equal(resumedBy(cluster), '/checkpoints/step-6')
    assert.equal(cluster.job.status?.checkpoint?.attempt, 3)
  })
})

describe('a first attempt', () => {
  test('lists nothing, unless it resumes from elsewhere', () => {
    const cluster = new TrainingCluster({ numWorkers: 2 })
    cluster.playsCheckpoints = false
    cluster.settle()
    assert.equal(cluster.pods.length, 2)
    assert.equal(cluster.job.status?.checkpoint, undefined)
  })

  test('imports from a bucket with the credentials of the job', () => {
    const env = [{ name: 'AWS_REGION', value: 'eu' }]
    const cluster = new TrainingCluster({ numWorkers: 1, env, checkpoint: { resumeFrom: 's3://b/pretrained' } })
    cluster.playsCheckpoints = false
    cluster.settle()
    const { checkpointPod: pod } = cluster
    assert.ok(pod && argsOf(pod).includes('--resume-from=s3://b/pretrained'))
    assert.equal(variableOf(pod, 'AWS_REGION'), 'eu')
    ends(cluster, 0, '{"latest":{"name":"step-1","step":1},"count":1,"pruned":0,"imported":true}')
    cluster.settle()
    assert.equal(resumedBy(cluster), '/checkpoints/step-1')
  })

  test('imports from the claim of another job, which must exist', () => {
    const cluster = new TrainingCluster({ numWorkers: 1, checkpoint: { resumeFrom: 'base' } })
    cluster.settle()
    assert.equal(cluster.pods.length, 0)
    assert.match(cluster.job.status?.reason ?? '', /^VolumeNotFound: .*base-checkpoints.*checkpoint.resumeFrom/)
    cluster.claims.push({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'base-checkpoints' } })
    cluster.pass()
    const { checkpointPod: pod } = cluster
    assert.ok(pod && argsOf(pod).includes('--resume-from=/resume-from'))
    const source = pod.spec?.volumes?.find(({ name }) => name === 'resume-from')?.persistentVolumeClaim
    assert.deepEqual(source, { claimName: 'base-checkpoints', readOnly: true })
  })

  test('of another job with a bucket, from there', () => {
    const cluster = new TrainingCluster({ numWorkers: 1, checkpoint: { resumeFrom: 'base' } })
    cluster.pass()
    const resumedJob = trainingJob({ checkpoint: { storage: { type: 'gcs', path: 'gs://b/base' } } }, 'base')
    const pods = planTraining({ ...cluster.observed, resumedJob }).writes.filter(({ object }) => object.kind === 'Pod')
    assert.ok(argsOf(pods[0]?.object as Pod).includes('--resume-from=gs://b/base'))
  })
})

describe('a pod that cannot list the checkpoints', () => {
  test('is replaced after a backoff, with the error in the status; the job never starts without it', () => {
    const cluster = preparing()
    for (const failures of [1, 2, 3]) {
      ends(cluster, 1, '{"error":"Permission denied: /checkpoints: set fsGroup"}')
      cluster.settle()
      assert.equal(cluster.job.status?.checkpoint?.failures, failures)
      assert.match(
        cluster.job.status?.reason ?? '',
        /^CheckpointsFailed: .*Permission denied: \/checkpoints: set fsGroup/,
      )
      assert.equal(cluster.pods.length, 0, 'deleted, and not replaced before the backoff')
      cluster.now += 20 * MINUTE
      cluster.settle()
      assert.equal(cluster.pods.length, 1)
    }
    assert.equal(cluster.job.status?.failures, 1, 'not counted against backoffLimit')
    cluster.checkpoints = [1]
    cluster.listCheckpoints()
    resumes(cluster)
    assert.equal(cluster.job.status?.checkpoint?.failures, undefined)
    assert.equal(resumedBy(cluster), '/checkpoints/step-1')
  })

  for (const [what, message] of Object.entries({
    nothing: undefined,
    'other text': 'panic',
    'a half result': '{"count":1}',
    'a name with a path': '{"latest":{"name":"../x","step":1},"count":1,"pruned":0}',
    'a replaced checkpoint': '{"latest":{"name":"step-1.replaced-2","step":1},"count":1,"pruned":0}',
    'a negative step': '{"latest":{"name":"a","step":-1},"count":1,"pruned":0}',
  }))
    test(`a result with ${what} is a failure`, () => {
      const cluster = preparing()
      ends(cluster, 0, message)
      assert.ok(cluster.checkpointPod)
      assert.equal(resultOf(memberOf(cluster.checkpointPod, { role: 'checkpoints', index: 0 })), undefined)
      cluster.settle()
      assert.equal(cluster.job.status?.checkpoint?.failures, 1)
      assert.equal(cluster.pods.length, 0)
    })

  test('is replaced at once when it was deleted', () => {
    const cluster = preparing()
    assert.ok(cluster.checkpointPod)
    cluster.vanish(cluster.checkpointPod)
    cluster.settle()
    assert.equal(cluster.pods.length, 1)
    assert.equal(cluster.job.status?.checkpoint?.failures, undefined)
  })

  test('is replaced when its node is dead', () => {
    const cluster = preparing()
    assert.ok(cluster.checkpointPod)
    const { uid } = cluster.checkpointPod.metadata
    cluster.run(cluster.checkpointPod, 'node')
    cluster.nodes.splice(0, cluster.nodes.length, { name: 'node', ready: false, since: cluster.now })
    cluster.now += 20 * MINUTE
    cluster.settle()
    cluster.now += MINUTE
    cluster.settle()
    assert.ok(cluster.checkpointPod)
    assert.notEqual(cluster.checkpointPod.metadata.uid, uid)
  })

  test('reports why it waits', () => {
    const cluster = preparing()
    assert.ok(cluster.checkpointPod)
    const message = '0/1 nodes are available: 1 Insufficient cpu.'
    const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message }
    cluster.change({ ...cluster.checkpointPod, status: { phase: 'Pending', conditions: [condition] } })
    cluster.settle()
    assert.match(cluster.job.status?.reason ?? '', /^InsufficientResources: .*Insufficient cpu/)
    assert.equal(cluster.job.status?.state, 'Restarting')
  })
})

describe('while the checkpoints are listed', () => {
  const absent = (cluster: TrainingCluster): void => assert.deepEqual(cluster.pods, [])

  test('a suspension ends the pod', () => {
    const cluster = preparing()
    assert.ok(cluster.checkpointPod)
    cluster.run(cluster.checkpointPod)
    cluster.edit({ suspend: true })
    cluster.settle()
    assert.equal(cluster.job.status?.state, 'Suspending')
    cluster.letGo()
    cluster.settle()
    absent(cluster)
    assert.equal(cluster.job.status?.state, 'Suspended')
  })

  test('the end of the job ends the pod', () => {
    const cluster = preparing({ activeDeadlineSeconds: 3600 })
    cluster.now += 120 * MINUTE
    cluster.settle()
    absent(cluster)
    assert.equal(cluster.job.status?.state, 'Failed')
  })

  test('a change of size starts over', () => {
    const cluster = preparing({ elastic: { minWorkers: 1, maxWorkers: 4 } })
    const first = cluster.checkpointPod?.metadata.uid
    cluster.edit({ numWorkers: 3 })
    cluster.settle()
    assert.notEqual(cluster.checkpointPod?.metadata.uid, first)
    cluster.listCheckpoints()
    resumes(cluster)
    assert.equal(cluster.job.status?.checkpoint?.attempt, 3)
    assert.equal(cluster.pods.length, 3)
  })

  test('checkpoints that are disabled are not waited for', () => {
    const cluster = preparing()
    cluster.edit({ checkpoint: { ...cluster.job.spec.checkpoint, enabled: false } })
    resumes(cluster)
    assert.equal(cluster.pods.length, 2)
  })

  test('a taken name is a conflict, and creates no attempt', () => {
    const cluster = preparing()
    const plan = planRejection(cluster.observed, { reason: 'Conflict', message: 'Pod/bert-checkpoints is not ours' })
    cluster.commit(plan)
    assert.ok(isTrue(cluster, 'Conflict'))
    assert.equal(cluster.job.status?.attempts, 2)
  })
})
