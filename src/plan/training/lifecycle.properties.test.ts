/**
 * Random histories: users edit the spec, pods run, fail, vanish and are preempted, time passes, and the operator dies
 * after any of its writes. The oracles are checked after every write, and every job must come to an end.
 */
import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../test/sim/training-cluster.ts'
import { type TrainingJob, trainingJobV1 } from '../../api/trainingjob.v1.ts'
import { fits } from '../../api/validity.ts'
import type { Pod } from '../../kube/resources.ts'
import { planTraining } from './lifecycle.ts'
import { isElastic } from './frameworks/elasticity.ts'
import { ATTEMPT_LABEL, INDEX_LABEL, ROLE_LABEL } from './names.ts'
import { isFinal } from './observe/state.ts'

const RUNS = { numRuns: 200 }
const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'

const attemptOf = ({ metadata }: Pod): string => metadata.labels?.[ATTEMPT_LABEL] ?? ''
const replicaOf = ({ metadata: { labels = {} } }: Pod): string =>
  `${labels[ROLE_LABEL]}/${labels[INDEX_LABEL] ?? labels[COMPLETION_INDEX]}`
const worldSizeOf = ({ spec }: Pod): string | undefined =>
  spec?.containers[0]?.env?.find(({ name }) => name === 'WORLD_SIZE')?.value

const CHECKPOINT = 10
const resumedBy = ({ spec }: Pod): string | undefined =>
  spec?.containers[0]?.env?.find(({ name }) => name === 'RESUME_FROM_CHECKPOINT')?.value

/** The storage has a checkpoint, so whatever starts after the first attempt starts from it; an elastic gang from the newest. */
function resumed(pods: readonly Pod[], { spec }: TrainingJob): void {
  const wanted = isElastic(spec) ? '/checkpoints' : `/checkpoints/step-${CHECKPOINT}`
  for (const pod of pods)
    if (worldSizeOf(pod) !== undefined && Number(attemptOf(pod)) > 1)
      assert.equal(resumedBy(pod), wanted, 'T8: no attempt starts from the beginning')
}

/** What must hold after every write of the history of one job. */
function oracles(): (cluster: TrainingCluster) => void {
  const sizes = new Map<string, string | undefined>()
  let last = { failures: 0, attempts: 0 }
  const completion = completedMeansSucceeded()
  let end: { readonly record: object; readonly pods: ReadonlySet<string> } | undefined
  return ({ pods, job }) => {
    completion(pods, job)
    resumed(pods, job)
    const replicas = pods.map(replicaOf)
    assert.deepEqual([...new Set(replicas)], replicas, 'T1: one pod per replica')
    assert.ok(new Set(pods.map(attemptOf)).size <= 1, 'T2: one attempt at a time')
    for (const pod of pods) {
      const known = sizes.get(attemptOf(pod)) ?? worldSizeOf(pod)
      assert.equal(worldSizeOf(pod), known, 'T3: one world size per attempt')
      sizes.set(attemptOf(pod), known)
    }
    const { failures = 0, attempts = 0, state, completionTime } = job.status ?? {}
    assert.ok(failures >= last.failures && attempts >= last.attempts, 'T4: counts never fall')
    assert.ok(failures <= job.spec.backoffLimit + 1, 'T4: the limit holds')
    assert.ok(failures - last.failures <= 1, 'T4: one at a time')
    last = { failures, attempts }
    const uids = pods.map(({ metadata }) => metadata.uid ?? '')
    const record = { state, failures, attempts, completionTime }
    if (end) {
      assert.deepEqual(record, end.record, 'T5: the end is the end')
      assert.ok(
        uids.every((uid) => end?.pods.has(uid)),
        'T5: nothing starts after the end',
      )
    } else if (isFinal(state)) end = { record, pods: new Set(uids) }
  }
}

function completedMeansSucceeded(): (pods: readonly Pod[], job: TrainingJob) => void {
  const succeeded = new Set<string>()
  return (pods, job) => {
    for (const pod of pods) if (pod.status?.phase === 'Succeeded') succeeded.add(`${attemptOf(pod)} ${replicaOf(pod)}`)
    if (job.status?.state === 'Completed') assert.ok(isSuccess(job, succeeded), 'T7: completed means succeeded')
  }
}

/** The role that decides has succeeded, or else all workers have. A Job records successes whose pods are gone. */
function isSuccess({ spec, status }: TrainingJob, succeeded: ReadonlySet<string>): boolean {
  const has = (replica: string): boolean => succeeded.has(`${status?.attempts} ${replica}`)
  if (spec.engine === 'job' || has('chief/0') || has('launcher/0')) return true
  return Array.from({ length: status?.worldSize ?? 0 }, (_, index) => `worker/${index}`).every(has)
}

type Move = (cluster: TrainingCluster) => void

const podMoves: Readonly<Record<string, (cluster: TrainingCluster, pod: Pod) => void>> = {
  run: (cluster, pod) => pod.status?.phase === 'Pending' && cluster.run(pod),
  succeed: (cluster, pod) => pod.status?.phase === 'Running' && cluster.exit(pod, { exitCode: 0 }),
  fail: (cluster, pod) => pod.status?.phase === 'Running' && cluster.exit(pod, { exitCode: 1 }),
  die: (cluster, pod) => pod.status?.phase === 'Running' && cluster.exit(pod, { exitCode: 137, reason: 'OOMKilled' }),
  preempt: (cluster, pod) => pod.metadata.deletionTimestamp === undefined && cluster.preempt(pod),
  delete: (cluster, pod) => cluster.delete(pod),
  vanish: (cluster, pod) => cluster.vanish(pod),
}

const podMove = fc
  .tuple(fc.constantFrom(...Object.keys(podMoves)), fc.nat(7))
  .map(([name, which]): Move => (cluster) => {
    const pod = cluster.pods[which % Math.max(1, cluster.pods.length)]
    if (pod) podMoves[name]?.(cluster, pod)
  })

const pass: Move = (cluster) => cluster.pass()
const crash = fc.nat(4).map(
  (survives): Move =>
    (cluster) =>
      cluster.pass(survives),
)
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(pass) },
  { weight: 3, arbitrary: crash },
  { weight: 6, arbitrary: podMove },
  { weight: 2, arbitrary: fc.constant<Move>((cluster) => cluster.runAll()) },
  { weight: 3, arbitrary: fc.constant<Move>((cluster) => cluster.letGo()) },
  { weight: 2, arbitrary: fc.constant<Move>((cluster) => cluster.controlJob()) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 1, max: 900 }).map(
      (seconds): Move =>
        (cluster) =>
          void (cluster.now += seconds * 1000),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (suspend): Move =>
        (cluster) =>
          cluster.edit({ suspend }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('i', 'j').map(
      (image): Move =>
        (cluster) =>
          cluster.edit({ image }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 4 }).map(
      (numWorkers): Move =>
        (cluster) =>
          cluster.edit({ numWorkers }),
    ),
  },
)

const settle: Move = (cluster) => void cluster.settle()
const runAll: Move = (cluster) => cluster.runAll()
const later: Move = (cluster) => void (cluster.now += 900_000)
const first =
  (name: string): Move =>
  (cluster) => {
    const [pod] = cluster.pods
    if (pod) podMoves[name]?.(cluster, pod)
  }
const RUNNING = [settle, runAll, settle]

/** Histories that every run includes, because random ones contain them for some seeds only. */
const KNOWN: readonly Move[][] = [
  [...RUNNING, first('succeed'), settle],
  [...RUNNING, first('fail'), settle, later, settle],
  [...RUNNING, first('fail'), settle, first('vanish'), later, settle],
  [...RUNNING, first('preempt'), settle, first('vanish'), later, settle],
  [...RUNNING, (cluster) => cluster.edit({ suspend: true }), settle, first('vanish'), settle],
  [...RUNNING, (cluster) => cluster.edit({ numWorkers: 3 }), settle, (cluster) => cluster.letGo(), settle],
]

const common = { numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 8 }, image: 'i', backoffLimit: 2 }
const specs: Readonly<Record<string, object>> = {
  'engine pods': { ...common, command: ['python', 'train.py'] },
  'engine job': { ...common, command: ['python', 'train.py'], engine: 'job' },
  'elastic torchrun': { ...common, command: ['torchrun', 'train.py'] },
  'tensorflow with roles': {
    ...common,
    command: ['x'],
    framework: 'tensorflow',
    roles: [{ name: 'chief' }, { name: 'ps' }],
  },
  mpi: { ...common, command: ['mpirun'], framework: 'mpi' },
  'restartPolicy Never': { ...common, command: ['x'], restartPolicy: 'Never' },
  'clean all': { ...common, command: ['x'], cleanPodPolicy: 'All' },
}

/** Without further disturbance, a job completes or fails from every state. */
function bringToEnd(cluster: TrainingCluster): void {
  cluster.edit({ suspend: false })
  for (let round = 0; round < 30; round += 1) {
    cluster.settle()
    cluster.letGo()
    if (isFinal(cluster.job.status?.state)) return
    cluster.now += 700_000
    cluster.settle()
    cluster.controlJob()
    cluster.runAll()
    cluster.settle()
    cluster.exitAll({ exitCode: 0 })
  }
  assert.fail(`never ended: ${JSON.stringify(cluster.job.status)}`)
}

for (const [name, spec] of Object.entries(specs)) {
  test(`${name}: the oracles hold after every write of every history, and it ends`, () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        const cluster = new TrainingCluster(spec, oracles())
        cluster.checkpoints = [CHECKPOINT]
        for (const step of moves) step(cluster)
        bringToEnd(cluster)
        const before = cluster.writes.length
        cluster.settle()
        cluster.letGo()
        cluster.settle()
        assert.equal(cluster.settle(), 1, 'at rest nothing is written')
        assert.ok(cluster.writes.length - before < 10)
      }),
      { ...RUNS, examples: KNOWN.map((moves) => [moves]) },
    )
  })

  test(`${name}: planning over its own result changes nothing, and the status fits its schema`, () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const cluster = new TrainingCluster(spec)
        for (const step of moves) step(cluster)
        cluster.settle()
        const { length } = cluster.writes
        pass(cluster)
        assert.equal(cluster.writes.length, length)
        assert.ok(fits(trainingJobV1.status, cluster.job.status ?? {}), JSON.stringify(cluster.job.status))
      }),
      RUNS,
    )
  })
}

for (const engine of ['pods', 'job']) {
  test(`engine ${engine}: a gang that has not started is as the spec says`, () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const cluster = new TrainingCluster(specs[`engine ${engine}`], oracles())
        cluster.checkpoints = [CHECKPOINT]
        for (const step of moves) step(cluster)
        for (let round = 0; round < 3; round += 1) {
          cluster.settle()
          cluster.letGo()
        }
        cluster.settle()
        if (cluster.pods.some(({ status }) => status?.phase !== 'Pending')) return
        for (const { spec } of cluster.pods) assert.equal(spec?.containers[0]?.image, cluster.job.spec.image)
      }),
      RUNS,
    )
  })
}

test('the status fits its schema, whatever nodes and containers report', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 3000 }),
    fc.constantFrom('OutOfnvidia.com/gpu', '', '1', 'ImagePullBackOff'),
  )
  fc.assert(
    fc.property(
      text,
      text,
      fc.constantFrom('Pending', 'Failed', 'Unknown'),
      fc.boolean(),
      (reason, message, phase, has) => {
        const cluster = new TrainingCluster(specs['engine pods'])
        cluster.settle()
        const [pod] = cluster.pods
        assert.ok(pod)
        const state = { waiting: { reason, message }, ...(has && { terminated: { exitCode: -1, reason, message } }) }
        const container = { name: 'training-worker', image: '', imageID: '', ready: false, restartCount: 0, state }
        const scheduled = {
          type: 'PodScheduled',
          status: 'False' as const,
          reason: has ? reason : 'Unschedulable',
          message,
        }
        const containerStatuses = has ? [container] : []
        cluster.change({ ...pod, status: { phase, reason, message, conditions: [scheduled], containerStatuses } })
        pass(cluster)
        assert.ok(fits(trainingJobV1.status, cluster.job.status ?? {}), JSON.stringify(cluster.job.status))
      },
    ),
    RUNS,
  )
})

test('the order in which pods are listed does not matter', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      const cluster = new TrainingCluster(specs['engine pods'])
      for (const step of moves) step(cluster)
      const { observed } = cluster
      const reversed = { ...observed, pods: observed.pods.toReversed() }
      const { deletions, ...plan } = planTraining(observed)
      const { deletions: other, ...mirror } = planTraining(reversed)
      assert.deepEqual(mirror, plan)
      assert.deepEqual(new Set(other), new Set(deletions))
    }),
    RUNS,
  )
})
