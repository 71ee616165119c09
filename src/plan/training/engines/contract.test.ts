/** The contract that every engine keeps, on a simulated cluster, and what is particular to engine job. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { objectsToWrite } from '../../../../test/builders/plans.ts'
import { JOB_UID, TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { toWrite } from '../../../decision/plan.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { replicasOf } from '../frameworks/roles.ts'
import { ATTEMPT_LABEL, JOB_UID_LABEL, ROLE_LABEL, WORKER } from '../names.ts'
import { planTraining } from '../lifecycle.ts'
import { isActive } from '../observe/member.ts'
import { type Changes, NO_CHANGES } from './contract.ts'
import { engines } from './registry.ts'

const ATTEMPT = { number: 3, worldSize: 3 }
const names = ['pods', 'job'] as const

for (const name of names) {
  const engine = engines[name]
  const fresh = (): TrainingCluster =>
    new TrainingCluster({ engine: name, numWorkers: ATTEMPT.worldSize, checkpoint: { enabled: false } })
  const write = (cluster: TrainingCluster, changes: Partial<Changes>): void => {
    cluster.commit({ ...NO_CHANGES, events: [], ...changes })
    cluster.controlJob()
  }
  const created = (): TrainingCluster => {
    const cluster = fresh()
    const { observed } = cluster
    write(cluster, { writes: toWrite('apply', engine.create(observed, ATTEMPT, replicasOf(cluster.job, ATTEMPT))) })
    return cluster
  }

  describe(`engine ${name}`, () => {
    test('an empty cluster has no members', () => {
      const { observed } = fresh()
      assert.deepEqual(engine.members(observed), [])
      assert.equal(engine.hasOtherAttempts(observed, 1), false)
      assert.equal(engine.hasPods(observed), false)
    })

    test('creates every replica once', () => {
      const cluster = created()
      const members = engine.members(cluster.observed)
      assert.deepEqual(new Set(members.map(({ index }) => index)), new Set([0, 1, 2]))
      assert.ok(members.every(({ role, attempt, phase }) => role === WORKER && attempt === 3 && phase === 'Pending'))
      assert.deepEqual(engine.create(cluster.observed, ATTEMPT, []), [])
    })

    test('host names are known before the pods exist', () => {
      const { job } = fresh()
      assert.match(engine.hostname(job, WORKER, 2), /^bert-(workers|job)-2$/)
    })

    test('pods have the labels that gather selects, restart policy Never, and one world size', () => {
      for (const { metadata, spec } of created().pods) {
        assert.equal(metadata.labels?.[JOB_UID_LABEL], JOB_UID)
        assert.equal(metadata.labels?.[ATTEMPT_LABEL], '3')
        assert.equal(metadata.labels?.[ROLE_LABEL], WORKER)
        assert.equal(spec?.restartPolicy, 'Never')
        assert.equal(spec?.subdomain, 'bert-workers')
        assert.equal(spec?.containers[0]?.env?.find((entry) => entry.name === 'WORLD_SIZE')?.value, '3')
      }
    })

    test('members have the phases of their pods', () => {
      const cluster = created()
      cluster.runAll()
      assert.ok(engine.members(cluster.observed).every(({ phase }) => phase === 'Running'))
      cluster.exitAll({ exitCode: 0 })
      assert.ok(engine.members(cluster.observed).every(({ phase }) => phase === 'Succeeded'))
    })

    test('blocks other attempts until the last pod is gone', () => {
      const cluster = created()
      cluster.runAll()
      assert.equal(engine.hasOtherAttempts(cluster.observed, 3), false)
      assert.equal(engine.hasOtherAttempts(cluster.observed, 4), true)
      assert.equal(engine.hasPods(cluster.observed), true)
      for (let pass = 0; pass < 3; pass += 1)
        write(cluster, engine.remove(cluster.observed, engine.members(cluster.observed)))
      assert.equal(engine.hasOtherAttempts(cluster.observed, 4), true, 'terminating pods count')
      cluster.letGo()
      for (let pass = 0; pass < 3; pass += 1)
        write(cluster, engine.remove(cluster.observed, engine.members(cluster.observed)))
      cluster.letGo()
      assert.equal(engine.hasOtherAttempts(cluster.observed, 4), false)
      assert.deepEqual(engine.remove(cluster.observed, engine.members(cluster.observed)), NO_CHANGES)
    })

    test('stop ends running pods and keeps ended ones', () => {
      const cluster = created()
      cluster.runAll()
      const [first] = cluster.pods
      assert.ok(first)
      cluster.exit(first, { exitCode: 0 })
      write(cluster, engine.stop(cluster.observed, engine.members(cluster.observed).filter(isActive)))
      cluster.letGo()
      const left = engine.members(cluster.observed)
      assert.equal(left.filter(isActive).length, 0)
      assert.deepEqual(
        left.map(({ podName }) => podName),
        [first.metadata.name],
      )
      assert.deepEqual(
        engine.stop(cluster.observed, engine.members(cluster.observed).filter(isActive)),
        NO_CHANGES,
        'then there is nothing more to write',
      )
    })
  })
}

describe('engine job alone', () => {
  const { job } = engines
  const started = (): TrainingCluster => {
    const cluster = new TrainingCluster({ engine: 'job', numWorkers: 3 })
    const writes = toWrite('apply', job.create(cluster.observed, ATTEMPT, replicasOf(cluster.job, ATTEMPT)))
    cluster.commit({ writes, deletions: [], events: [] })
    return cluster
  }

  test('is one Indexed Job that fails with its first pod', () => {
    const [made] = job.create(new TrainingCluster({ engine: 'job' }).observed, ATTEMPT, [{ role: WORKER, index: 0 }])
    const { metadata, spec } = made as Job
    assert.equal(metadata.name, 'bert-job')
    const { completionMode, completions, parallelism, backoffLimit, podReplacementPolicy } = spec ?? {}
    assert.deepEqual(
      [completionMode, completions, parallelism, backoffLimit, podReplacementPolicy],
      ['Indexed', 3, 3, 0, 'Failed'],
    )
  })

  test('deletes the Job only when none of its pods runs, so that a stuck pod can still be deleted by force', () => {
    const cluster = started()
    cluster.controlJob()
    cluster.runAll()
    const changes = job.remove(cluster.observed, job.members(cluster.observed))
    assert.deepEqual(changes.deletions, [])
    const [suspended] = objectsToWrite(changes)
    assert.equal((suspended as Job).spec?.suspend, true)
    assert.deepEqual(
      (suspended as Job).spec?.template,
      cluster.workload?.spec?.template,
      'unchanged, because it is immutable',
    )
  })

  test('counts a success whose pod is gone', () => {
    const cluster = started()
    const { workload } = cluster
    assert.ok(workload)
    cluster.workload = { ...workload, status: { completedIndexes: '0,2' } }
    assert.deepEqual(
      job.members(cluster.observed).map(({ phase }) => phase),
      ['Succeeded', 'Pending', 'Succeeded'],
    )
    cluster.workload = { ...workload, status: { completedIndexes: '0-2' } }
    assert.ok(job.members(cluster.observed).every(({ phase }) => phase === 'Succeeded'))
  })

  const ofDeletedJob = (pod: Pod): Pod => {
    const [owner] = pod.metadata.ownerReferences ?? []
    assert.ok(owner)
    return {
      ...pod,
      metadata: { ...pod.metadata, name: 'bert-job-0-old', ownerReferences: [{ ...owner, uid: 'deleted' }] },
    }
  }

  test('a pod of a deleted Job, stale or forged, does not end the Job of the current attempt', () => {
    const cluster = new TrainingCluster({ engine: 'job', numWorkers: 3 })
    cluster.settle()
    cluster.runAll()
    cluster.settle()
    const [pod] = cluster.pods
    assert.ok(pod)
    const observed = { ...cluster.observed, orphans: [ofDeletedJob(pod)] }
    const plan = planTraining(observed)
    assert.deepEqual([plan.deletions, objectsToWrite(plan).filter(({ kind }) => kind === 'Job')], [[], []])
  })

  test('no Job is created while a pod of a deleted Job exists', () => {
    const cluster = new TrainingCluster({ engine: 'job', numWorkers: 3 })
    cluster.settle()
    const [pod] = cluster.pods
    assert.ok(pod)
    const { workload: _deleted, ...rest } = cluster.observed
    const observed = { ...rest, pods: [], orphans: [ofDeletedJob(pod)] }
    assert.equal(job.hasOtherAttempts(observed, 1), true)
  })

  test('a pod belongs to the attempt of its Job, whatever its label says', () => {
    const cluster = started()
    cluster.controlJob()
    const [pod, ...others] = cluster.pods
    assert.ok(pod)
    const labels = { ...pod.metadata.labels, [ATTEMPT_LABEL]: '1' }
    const observed = { ...cluster.observed, pods: [{ ...pod, metadata: { ...pod.metadata, labels } }, ...others] }
    assert.deepEqual(new Set(job.members(observed).map(({ attempt }) => attempt)), new Set([ATTEMPT.number]))
    assert.equal(job.hasOtherAttempts(observed, ATTEMPT.number), false)
  })
})
