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
  cluster.commit(first)
  assert.equal(planDeletion(cluster.observed).done, false)
  cluster.letGo()
  const last = planDeletion(cluster.observed)
  assert.deepEqual([last.deletions, last.done], [[], true])
})

const reasonOf = ({ job }: TrainingCluster): string | undefined => job.status?.reason

for (const engine of ['pods', 'job'])
  test(`the status says once that it waits for pods to end (${engine})`, () => {
    const cluster = started({ numWorkers: 3, engine })
    const statuses = (): number => cluster.writes.filter((write) => write === 'status').length
    const before = statuses()
    const { state, conditions } = cluster.job.status ?? {}
    cluster.commit(planDeletion(cluster.observed))
    assert.equal(statuses(), before, 'pods may end at once')
    cluster.controlJob()
    for (let pass = 0; pass < 3; pass += 1) cluster.commit(planDeletion(cluster.observed))
    const [first] = cluster.pods
    assert.ok(first)
    cluster.vanish(first)
    cluster.commit(planDeletion(cluster.observed))
    assert.equal(statuses(), before + 1)
    assert.match(
      reasonOf(cluster) ?? '',
      /^Deleting: waiting for the pods .*kubectl get pods -n team-a -l trainingjob=bert$/,
    )
    assert.deepEqual([cluster.job.status?.state, cluster.job.status?.conditions], [state, conditions])
  })

test('no write where no pod is left', () => {
  const cluster = started({ numWorkers: 2 })
  const { status: _none, ...plan } = planDeletion(cluster.observed)
  cluster.commit(plan)
  cluster.letGo()
  assert.equal(planDeletion(cluster.observed).status, undefined)
})

test('deletes the checkpoints if the spec says so and they were created for this job', () => {
  const cluster = new TrainingCluster({ checkpoint: { deleteOnCompletion: true } })
  cluster.settle()
  cluster.commit(planDeletion(cluster.observed))
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
  cluster.commit(planDeletion({ ...cluster.observed, owned }))
  cluster.letGo()
  assert.deepEqual(deleted(), [], 'not before the claim')
  cluster.claims.length = 0
  assert.deepEqual(deleted(), ['Service team-a', 'ConfigMap team-a'])
})
