/** The contract that every engine keeps, on a simulated cluster; what only one of them does stands below. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Job } from '../../../kube/resources.ts'
import { seatsOf } from '../attempt.ts'
import { isActive } from '../member.ts'
import { ATTEMPT_LABEL, JOB_UID_LABEL, ROLE_LABEL, WORKER } from '../names.ts'
import { JOB_UID, SimulatedCluster } from '../../../../test/simulated-cluster.ts'
import { engines } from './engine.ts'

const ATTEMPT = { number: 3, worldSize: 3 }
const names = ['pods', 'job'] as const

for (const name of names) {
  const engine = engines[name]
  const fresh = (): SimulatedCluster =>
    new SimulatedCluster({ engine: name, numWorkers: ATTEMPT.worldSize, checkpoint: { enabled: false } })
  const write = (cluster: SimulatedCluster, change: { apply?: readonly object[]; prune?: readonly object[] }): void => {
    cluster.commit({ apply: [], prune: [], events: [], ...change } as never)
    cluster.controlJob()
  }
  const occupied = (): SimulatedCluster => {
    const cluster = fresh()
    const { observed } = cluster
    write(cluster, { apply: engine.occupy(observed, ATTEMPT, seatsOf(cluster.job, ATTEMPT)) })
    return cluster
  }

  describe(`engine ${name}`, () => {
    test('an empty cluster has no members and is not occupied', () => {
      const { observed } = fresh()
      assert.deepEqual(engine.members(observed), [])
      assert.equal(engine.isOccupied(observed, 1), false)
    })

    test('takes every seat once, and only then has nothing more to create', () => {
      const cluster = occupied()
      const members = engine.members(cluster.observed)
      assert.deepEqual(new Set(members.map(({ index }) => index)), new Set([0, 1, 2]))
      assert.ok(members.every(({ role, attempt, phase }) => role === WORKER && attempt === 3 && phase === 'Pending'))
      assert.deepEqual(engine.occupy(cluster.observed, ATTEMPT, []), [])
    })

    test('members are announced before their pods are there, under a name that is their host name', () => {
      const { job } = fresh()
      assert.match(engine.hostname(job, WORKER, 2), /^bert-(workers|job)-2$/)
    })

    test('pods carry what gather finds them by, never restart by themselves, and know one world size', () => {
      for (const { metadata, spec } of occupied().pods) {
        assert.equal(metadata.labels?.[JOB_UID_LABEL], JOB_UID)
        assert.equal(metadata.labels?.[ATTEMPT_LABEL], '3')
        assert.equal(metadata.labels?.[ROLE_LABEL], WORKER)
        assert.equal(spec?.restartPolicy, 'Never')
        assert.equal(spec?.subdomain, 'bert-workers')
        assert.equal(spec?.containers[0]?.env?.find((entry) => entry.name === 'WORLD_SIZE')?.value, '3')
      }
    })

    test('phases follow the pods', () => {
      const cluster = occupied()
      cluster.runAll()
      assert.ok(engine.members(cluster.observed).every(({ phase }) => phase === 'Running'))
      cluster.exitAll({ exitCode: 0 })
      assert.ok(engine.members(cluster.observed).every(({ phase }) => phase === 'Succeeded'))
    })

    test('is occupied for every other attempt until the last pod is gone', () => {
      const cluster = occupied()
      cluster.runAll()
      assert.equal(engine.isOccupied(cluster.observed, 3), false)
      assert.equal(engine.isOccupied(cluster.observed, 4), true)
      for (let pass = 0; pass < 3; pass += 1)
        write(cluster, engine.clear(cluster.observed, engine.members(cluster.observed)))
      assert.equal(engine.isOccupied(cluster.observed, 4), true, 'what is on its way out counts')
      cluster.letGo()
      for (let pass = 0; pass < 3; pass += 1)
        write(cluster, engine.clear(cluster.observed, engine.members(cluster.observed)))
      cluster.letGo()
      assert.equal(engine.isOccupied(cluster.observed, 4), false)
      assert.deepEqual(engine.clear(cluster.observed, engine.members(cluster.observed)), { apply: [], prune: [] })
    })

    test('stopping ends who runs and leaves who has ended', () => {
      const cluster = occupied()
      cluster.runAll()
      const [first] = cluster.pods
      assert.ok(first)
      cluster.exit(first, { exitCode: 0 })
      write(cluster, engine.stop(cluster.observed))
      cluster.letGo()
      const left = engine.members(cluster.observed)
      assert.equal(left.filter(isActive).length, 0)
      assert.deepEqual(
        left.map(({ podName }) => podName),
        [first.metadata.name],
      )
      assert.deepEqual(engine.stop(cluster.observed), { apply: [], prune: [] }, 'and that is all')
    })
  })
}

describe('engine job alone', () => {
  const { job } = engines
  const started = (): SimulatedCluster => {
    const cluster = new SimulatedCluster({ engine: 'job', numWorkers: 3 })
    const apply = job.occupy(cluster.observed, ATTEMPT, seatsOf(cluster.job, ATTEMPT))
    cluster.commit({ apply, prune: [], events: [] })
    return cluster
  }

  test('is one Indexed Job that fails with its first pod', () => {
    const [made] = job.occupy(new SimulatedCluster({ engine: 'job' }).observed, ATTEMPT, [{ role: WORKER, index: 0 }])
    const { metadata, spec } = made as Job
    assert.equal(metadata.name, 'bert-job')
    const { completionMode, completions, parallelism, backoffLimit, podReplacementPolicy } = spec ?? {}
    assert.deepEqual(
      [completionMode, completions, parallelism, backoffLimit, podReplacementPolicy],
      ['Indexed', 3, 3, 0, 'Failed'],
    )
  })

  test('the Job goes only when none of its pods runs, so that a pod which cannot end can still be given up', () => {
    const cluster = started()
    cluster.controlJob()
    cluster.runAll()
    const change = job.clear(cluster.observed, job.members(cluster.observed))
    assert.deepEqual(change.prune, [])
    assert.equal((change.apply[0] as Job).spec?.suspend, true)
    assert.deepEqual(
      (change.apply[0] as Job).spec?.template,
      cluster.workload?.spec?.template,
      'unchanged else: it is immutable',
    )
  })

  test('success counts although the pod is gone', () => {
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
})
