/** The sentences that people read in events and conditions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { MINUTE, podOf, started } from '../../../../test/sim/training-moves.ts'
import { planTraining } from '../lifecycle.ts'

const elastic = { minWorkers: 1, maxWorkers: 4 }

/** Notes of the events of the next plan. */
const notes = (cluster: TrainingCluster): string[] => planTraining(cluster.observed).events.map(({ note }) => note)

const cases: readonly [string, object, (cluster: TrainingCluster) => void, string][] = [
  [
    'a deleted worker',
    { numWorkers: 2 },
    (cluster) => cluster.delete(podOf(cluster, 'bert-workers-1')),
    'Worker 1 on node-bert-workers-1 was deleted; restarting all 2 workers (attempt 2, not counted against backoffLimit)',
  ],
  [
    'a preempted worker',
    { numWorkers: 1 },
    (cluster) => cluster.preempt(podOf(cluster, 'bert-workers-0')),
    'Worker 0 on node-bert-workers-0 was preempted: PreemptionByScheduler; restarting 1 worker (attempt 2, not counted against backoffLimit)',
  ],
  [
    'a lost worker',
    { numWorkers: 2 },
    (cluster) => cluster.vanish(podOf(cluster, 'bert-workers-1')),
    'Worker 1 was lost (PodLost): The pod is gone and no cause was observed; restarting all 2 workers (attempt 2, not counted against backoffLimit)',
  ],
  [
    'a failed worker',
    { numWorkers: 2 },
    (cluster) => cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 137, reason: 'OOMKilled' }),
    'Worker 1 on node-bert-workers-1 exited with code 137 (OOMKilled); restarting all 2 workers in 10s (attempt 2, failure 1 of 3 allowed by backoffLimit)',
  ],
  [
    'a failed worker of an elastic job',
    { numWorkers: 2, elastic, command: ['torchrun', 'x'] },
    (cluster) => cluster.exit(podOf(cluster, 'bert-workers-1'), { exitCode: 1 }),
    'Worker 1 on node-bert-workers-1 exited with code 1 (Error); replacing 1 of 2 workers while the others continue (failure 1 of 3 allowed by backoffLimit)',
  ],
  [
    'the last failure',
    { numWorkers: 1, backoffLimit: 0 },
    (cluster) => cluster.exitAll({ exitCode: 1 }),
    'Worker 0 on node-bert-workers-0 exited with code 1 (Error); failure 1 exceeds backoffLimit 0. See kubectl logs -n team-a bert-workers-0',
  ],
  [
    'a deadline',
    { numWorkers: 1, activeDeadlineSeconds: 60 },
    (cluster) => void (cluster.now += MINUTE),
    'The job did not complete within activeDeadlineSeconds (60 s); raise it or train less',
  ],
  ['one worker', {}, (cluster) => cluster.exitAll({ exitCode: 0 }), 'Training completed: 1 of 1 worker succeeded'],
  [
    'a role that decides',
    { framework: 'tensorflow', roles: [{ name: 'chief' }] },
    (cluster) => cluster.exitAll({ exitCode: 0 }),
    'Training completed: the chief succeeded',
  ],
  [
    'a changed size',
    { numWorkers: 1, elastic },
    (cluster) => cluster.edit({ numWorkers: 2 }),
    'Scaling from 1 to 2 workers; restarting all 2 workers (attempt 2, not counted against backoffLimit)',
  ],
]

for (const [name, spec, happens, note] of cases)
  test(name, () => {
    const cluster = started(spec)
    happens(cluster)
    assert.deepEqual(notes(cluster), [note])
  })

test('creation, start, suspension and resumption', () => {
  const cluster = new TrainingCluster({ numWorkers: 1 })
  cluster.pass(1)
  assert.deepEqual(notes(cluster), [
    'Created 1 of 1 worker pod (attempt 1)',
    'TrainingJob resources created: PersistentVolumeClaim/bert-checkpoints, Service/bert-workers, 1 pod',
  ])
  cluster.settle()
  cluster.runAll()
  assert.deepEqual(notes(cluster), ['1 of 1 worker running (attempt 1)'])
  cluster.settle()
  cluster.edit({ suspend: true })
  cluster.settle()
  assert.equal(cluster.job.status?.reason, 'Suspending: Stopping all workers')
  cluster.letGo()
  assert.deepEqual(notes(cluster), ['All workers are stopped; set spec.suspend to false to resume'])
  cluster.settle()
  cluster.edit({ suspend: false })
  assert.deepEqual(notes(cluster), ['Resumed: creating 1 worker (attempt 2)'])
})
