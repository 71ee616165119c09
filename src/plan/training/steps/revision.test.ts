/** Edits of a spec before and after the first worker of an attempt has started. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { Pod } from '../../../kube/resources.ts'
import { ATTEMPT_LABEL } from '../names.ts'

const WRONG = { image: 'wrong', command: ['train'], numWorkers: 2, gpusPerWorker: 0 }

const attemptsOf = ({ pods }: TrainingCluster): (string | undefined)[] =>
  pods.map(({ metadata }) => metadata.labels?.[ATTEMPT_LABEL])
const imagesOf = ({ pods }: TrainingCluster): (string | undefined)[] =>
  pods.map((pod) => pod.spec?.containers[0]?.image)

function created(more: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...WRONG, ...more })
  cluster.settle()
  cluster.settle()
  return cluster
}

function settled(cluster: TrainingCluster): void {
  for (let round = 0; round < 3; round += 1) {
    cluster.settle()
    cluster.letGo()
  }
  cluster.settle()
}

/** A node fails to pull the image, or runs the first container of the pod. */
function report(cluster: TrainingCluster, pod: Pod | undefined, state: object, lastState: object = {}): void {
  assert.ok(pod)
  const container = { name: 'training-worker', image: '', imageID: '', ready: false, restartCount: 0, state, lastState }
  const spec = { ...pod.spec, nodeName: 'node' } as NonNullable<Pod['spec']>
  cluster.change({
    ...pod,
    spec,
    status: { phase: 'Pending', containerStatuses: [container] },
  })
}

const edits: readonly [string, Partial<TrainingJobSpec>, boolean][] = [
  ['image', { image: 'right' }, true],
  ['command', { command: ['other'] }, true],
  ['args', { args: ['--x'] }, true],
  ['env', { env: [{ name: 'A', value: '1' }] }, true],
  ['envFrom', { envFrom: [{ configMapRef: { name: 'a' } }] }, true],
  ['resources', { resources: { requests: { cpu: '1' } } }, true],
  ['scheduling.nodeSelector', { scheduling: { nodeSelector: { a: 'b' } } }, true],
  ['hyperparameters', { hyperparameters: { learningRate: 1 } }, true],
  ['dataVolume', { dataVolume: { claimName: 'data' } }, true],
  ['serviceAccountName', { serviceAccountName: 'trainer' }, true],
  ['backoffLimit', { backoffLimit: 7 }, false],
  ['ttlSecondsAfterFinished', { ttlSecondsAfterFinished: 7 }, false],
  ['cleanPodPolicy', { cleanPodPolicy: 'All' }, false],
  ['activeDeadlineSeconds', { activeDeadlineSeconds: 7 }, false],
]

for (const engine of ['pods', 'job'] as const) {
  describe(`engine ${engine}`, () => {
    for (const [field, edit, isReplaced] of edits) {
      test(`an edit of ${field} ${isReplaced ? 'replaces' : 'keeps'} a gang that has not started`, () => {
        const cluster = created({ engine })
        for (const pod of cluster.pods) report(cluster, pod, { waiting: { reason: 'ImagePullBackOff' } })
        cluster.edit(edit)
        settled(cluster)
        const attempt = isReplaced ? 2 : 1
        assert.deepEqual(attemptsOf(cluster), [String(attempt), String(attempt)])
        const { attempts, failures, lastFailure } = cluster.job.status ?? {}
        assert.deepEqual([attempts, failures, lastFailure], [attempt, 0, undefined])
        assert.equal(cluster.events.filter((reason) => reason === 'SpecChanged').length, Number(isReplaced))
      })
    }

    test('records the decision before a pod is deleted', () => {
      const cluster = created({ engine })
      cluster.edit({ image: 'right' })
      cluster.writes.length = 0
      settled(cluster)
      assert.equal(cluster.writes[0], 'status')
    })

    test('a running worker keeps its gang until the next attempt', () => {
      const cluster = created({ engine })
      const [first] = cluster.pods
      assert.ok(first)
      cluster.run(first)
      cluster.edit({ image: 'right' })
      settled(cluster)
      assert.deepEqual(
        [attemptsOf(cluster), imagesOf(cluster)],
        [
          ['1', '1'],
          ['wrong', 'wrong'],
        ],
      )
      cluster.exit(first, { exitCode: 1 })
      cluster.settle()
      cluster.letGo()
      cluster.now += 60_000
      settled(cluster)
      assert.deepEqual(
        [attemptsOf(cluster), imagesOf(cluster)],
        [
          ['2', '2'],
          ['right', 'right'],
        ],
      )
      assert.equal(cluster.job.status?.failures, 1)
    })

    test('an edit that is reverted replaces nothing', () => {
      const cluster = created({ engine })
      cluster.edit({ image: 'right' })
      cluster.edit({ image: 'wrong' })
      settled(cluster)
      assert.deepEqual(attemptsOf(cluster), ['1', '1'])
    })
  })
}

test('a container that has ended counts as started, although its pod is Pending', () => {
  for (const states of [[{ terminated: { exitCode: 0 } }], [{ waiting: {} }, { terminated: { exitCode: 1 } }]]) {
    const cluster = created()
    report(cluster, cluster.pods[0], states[0] ?? {}, states[1])
    cluster.edit({ image: 'right' })
    settled(cluster)
    assert.deepEqual(attemptsOf(cluster), ['1', '1'])
  }
})

test('a partial gang is replaced as a whole', () => {
  const cluster = new TrainingCluster({ ...WRONG, checkpoint: { enabled: false } })
  cluster.pass(3)
  assert.equal(cluster.pods.length, 1)
  cluster.edit({ image: 'right' })
  settled(cluster)
  assert.deepEqual(
    [attemptsOf(cluster), imagesOf(cluster)],
    [
      ['2', '2'],
      ['right', 'right'],
    ],
  )
})

test('a Job that cannot create its pods is replaced', () => {
  const cluster = new TrainingCluster({ ...WRONG, engine: 'job' })
  cluster.pass()
  assert.deepEqual([cluster.pods.length, cluster.workload !== undefined], [0, true])
  cluster.edit({ image: 'right' })
  cluster.pass()
  assert.equal(cluster.job.status?.attempts, 2)
})

test('keeps pods without a fingerprint', () => {
  const cluster = created()
  for (const pod of cluster.pods) cluster.change({ ...pod, metadata: { ...pod.metadata, annotations: {} } })
  cluster.edit({ image: 'right' })
  settled(cluster)
  assert.deepEqual(attemptsOf(cluster), ['1', '1'])
})

test('a change of a running job says that it counts from the next attempt, and how to apply it now', () => {
  const cluster = new TrainingCluster({ image: 'a', command: ['train'] })
  const pending = () => cluster.job.status?.conditions?.find(({ type }) => type === 'ChangePending')
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  assert.equal(pending(), undefined)
  cluster.edit({ image: 'b' })
  cluster.settle()
  assert.deepEqual([cluster.job.status?.state, pending()?.status], ['Running', 'True'])
  assert.match(pending()?.message ?? '', /next attempt. To apply it now, set spec.suspend to true/)
  assert.equal(cluster.events.filter((reason) => reason === 'ChangePending').length, 1)
  cluster.edit({ suspend: true })
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.edit({ suspend: false })
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  assert.equal(cluster.job.status?.state, 'Running')
  assert.equal(pending(), undefined)
})
