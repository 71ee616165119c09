/** Pods of a job whose checkpoints are in a bucket. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { podOf } from '../../../../test/sim/training-moves.ts'
import type { Pod } from '../../../kube/resources.ts'

const storage = { type: 's3', path: 's3://b/p' }
const secret = { name: 'login', secret: { secretName: 'aws' } }
const credentials = {
  env: [{ name: 'AWS_REGION', value: 'eu' }],
  envFrom: [{ secretRef: { name: 'aws' } }],
  volumes: [secret],
  volumeMounts: [{ name: 'login', mountPath: '/login' }],
}

type Container = NonNullable<NonNullable<Pod['spec']>['initContainers']>[number]
const initOf = (pod: Pod): readonly Container[] => pod.spec?.initContainers ?? []

/** The second attempt, which resumes from step 5. */
function resumed(spec: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ numWorkers: 2, checkpoint: { storage, keepLast: 2 }, ...credentials, ...spec })
  cluster.checkpoints = [5]
  cluster.settle()
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.edit({ suspend: false })
  cluster.settle()
  return cluster
}

test('rank 0 uploads, every worker downloads what it resumes from, with the credentials of the job', () => {
  const cluster = resumed()
  const [first, second] = ['bert-workers-0', 'bert-workers-1'].map((name) => initOf(podOf(cluster, name)))
  const download = ['agent', 'checkpoints-download', '--from=s3://b/p/step-5', '--to=/checkpoints']
  const upload = ['agent', 'checkpoints-upload', '--from=/checkpoints', '--to=s3://b/p', '--keep-last=2']
  assert.deepEqual(
    first?.map(({ args }) => args),
    [download, upload],
  )
  assert.deepEqual(
    second?.map(({ args }) => args),
    [download],
  )
  assert.deepEqual(
    first?.map(({ restartPolicy }) => restartPolicy),
    [undefined, 'Always'],
  )
  for (const { env, envFrom, volumeMounts, securityContext } of first ?? []) {
    assert.ok(env?.some(({ name, value }) => name === 'AWS_REGION' && value === 'eu'))
    assert.deepEqual(envFrom, credentials.envFrom)
    assert.deepEqual(
      volumeMounts?.map(({ mountPath }) => mountPath),
      ['/checkpoints', '/login'],
    )
    assert.deepEqual(securityContext?.capabilities, { drop: ['ALL'] })
  }
})

test('the training code sees a local directory', () => {
  const { spec } = podOf(resumed(), 'bert-workers-1')
  assert.deepEqual(spec?.volumes?.find(({ name }) => name === 'checkpoints')?.emptyDir, {})
  const env = Object.fromEntries(spec?.containers[0]?.env?.map(({ name, value }) => [name, value]) ?? [])
  assert.equal(env['CHECKPOINT_DIR'], '/checkpoints')
  assert.equal(env['CHECKPOINT_URI'], 's3://b/p')
  assert.equal(env['RESUME_FROM_CHECKPOINT'], '/checkpoints/step-5')
})

test('a first attempt downloads nothing', () => {
  const cluster = new TrainingCluster({ numWorkers: 1, checkpoint: { storage } })
  cluster.settle()
  assert.deepEqual(
    initOf(podOf(cluster, 'bert-workers-0')).map(({ name }) => name),
    ['checkpoint-upload'],
  )
})

test('with one template for all workers, each has the sidecar; the role that decides has it too', () => {
  const job = resumed({ engine: 'job' })
  assert.ok(initOf(podOf(job, 'bert-job-1')).some(({ name }) => name === 'checkpoint-upload'))
  const roles = [{ name: 'chief' }, { name: 'ps' }]
  const tensorflow = resumed({ framework: 'tensorflow', roles })
  const uploads = (name: string): boolean =>
    initOf(podOf(tensorflow, name)).some((container) => container.name === 'checkpoint-upload')
  assert.deepEqual([uploads('bert-chief-0'), uploads('bert-ps-0'), uploads('bert-workers-1')], [true, false, false])
})

test('the pod that lists the checkpoints has the credentials and no claim', () => {
  const cluster = new TrainingCluster({
    numWorkers: 1,
    checkpoint: { storage, resumeFrom: 'gs://c/q' },
    ...credentials,
  })
  cluster.playsCheckpoints = false
  cluster.settle()
  const { spec } = cluster.checkpointPod ?? {}
  assert.deepEqual(spec?.containers[0]?.args?.slice(2), [
    '--storage=s3://b/p',
    '--keep-last=3',
    '--resume-from=gs://c/q',
  ])
  assert.deepEqual(
    spec?.volumes?.map(({ name }) => name),
    ['tmp', 'login'],
  )
  assert.deepEqual(cluster.claims, [])
})
