/** The deletion of a job. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToDelete } from '../../../../test/builders/plans.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { started } from '../../../../test/sim/training-moves.ts'
import { planDeletion } from './deletion.ts'

test('waits for all pods, and keeps the checkpoints', () => {
  const cluster = started({ numWorkers: 2 })
  const first = planDeletion(cluster.observed)
  assert.deepEqual([objectsToDelete(first).length, first.done, objectsToDelete(first, 'unowned')], [2, false, []])
  cluster.commit(first as never)
  assert.equal(planDeletion(cluster.observed).done, false)
  cluster.letGo()
  const last = planDeletion(cluster.observed)
  assert.deepEqual([last.deletions, last.done], [[], true])
})

test('deletes the checkpoints if the spec says so and they were created for this job', () => {
  const cluster = new TrainingCluster({ checkpoint: { deleteOnCompletion: true } })
  cluster.settle()
  cluster.commit(planDeletion(cluster.observed) as never)
  cluster.letGo()
  const plan = planDeletion(cluster.observed)
  assert.deepEqual(
    objectsToDelete(plan, 'unowned').map(({ metadata }) => metadata.name),
    ['bert-checkpoints'],
  )
  assert.equal(plan.done, false)
  const { job } = cluster
  const namesake = { ...job, metadata: { ...job.metadata, uid: 'another' } }
  assert.deepEqual(objectsToDelete(planDeletion({ ...cluster.observed, job: namesake, pods: [] }), 'unowned'), [])
})

test('deletes what else the job owns when no pod is left, and nothing of another namespace', () => {
  const cluster = started({ numWorkers: 1, checkpoint: { deleteOnCompletion: true } })
  const object = (kind: string, namespace: string) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'bert', namespace },
  })
  const owned = [object('Service', 'team-a'), object('ConfigMap', 'team-a'), object('ConfigMap', 'team-b')]
  const deleted = (): string[] =>
    objectsToDelete(planDeletion({ ...cluster.observed, owned })).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace}`,
    )
  assert.deepEqual(deleted(), ['Pod team-a'])
  cluster.commit(planDeletion({ ...cluster.observed, owned }) as never)
  cluster.letGo()
  assert.deepEqual(deleted(), [], 'not before the claim')
  cluster.claims.length = 0
  assert.deepEqual(deleted(), ['Service team-a', 'ConfigMap team-a'])
})
