/** The operator dies after each of its writes while a job is admitted, evicted, queued again and finished. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admitted, evicted, holds, isWorkload } from '../../../../test/sim/queue.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Pod } from '../../../kube/resources.ts'

const SPEC = {
  image: 'i',
  command: ['train'],
  gpusPerWorker: 0,
  numWorkers: 2,
  checkpoint: { enabled: false },
  scheduling: { queueName: 'research' },
}

const isActive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

/** No pod without quota, and no quota twice, after every write. */
function oracle({ pods, groups, writes }: TrainingCluster): void {
  const granted = groups.filter((group) => isWorkload(group) && holds(group, 'QuotaReserved'))
  assert.ok(granted.length <= 1, 'one Workload has quota')
  assert.ok(granted.length === 1 || !pods.some(isActive), `pods need quota after ${writes.at(-1)}`)
}

type Settle = (cluster: TrainingCluster) => void

/** Settles, and dies once after the nth write of the history. */
function settling(crashAt: number): Settle {
  let hasCrashed = false
  return (cluster) => {
    for (let pass = 0; pass < 50; pass += 1) {
      const before = cluster.writes.length
      const left = crashAt - before
      const dies = !hasCrashed && left >= 0
      cluster.pass(dies ? left : Infinity)
      if (dies && cluster.writes.length === crashAt) {
        hasCrashed = true
        cluster.restartOperator()
      } else if (cluster.writes.length === before) return
    }
    assert.fail('not settled')
  }
}

function history(engine: string, settle: Settle): TrainingCluster {
  const cluster = new TrainingCluster({ ...SPEC, engine }, oracle)
  cluster.servedKinds = new Set(['workloads.kueue.x-k8s.io'])
  cluster.grantsQuota = false
  const step = (act: () => void): void => {
    act()
    cluster.controlJob()
    settle(cluster)
    cluster.controlJob()
    settle(cluster)
  }
  const grant = () => (cluster.groups = cluster.groups.map((group) => admitted(group, cluster.now)))
  step(() => undefined)
  step(grant)
  step(() => cluster.runAll())
  step(() => (cluster.groups = cluster.groups.map((group) => evicted(group, cluster.now))))
  step(() => cluster.letGo())
  step(() => cluster.letGo())
  step(grant)
  step(() => cluster.runAll())
  step(() => cluster.exitAll({ exitCode: 0 }))
  step(() => cluster.letGo())
  return cluster
}

for (const engine of ['pods', 'job'])
  test(`engine ${engine}: a crash after any write changes nothing`, () => {
    const whole = history(engine, settling(Infinity))
    assert.equal(whole.job.status?.state, 'Completed')
    for (let crashAt = 0; crashAt <= whole.writes.length; crashAt += 1) {
      const { job, groups } = history(engine, settling(crashAt))
      const { state, failures, attempts } = job.status ?? {}
      assert.deepEqual([state, failures, attempts], ['Completed', 0, 2], `after write ${crashAt}`)
      assert.ok(groups.length === 1 && groups.every((one) => isWorkload(one) && holds(one, 'Finished')))
    }
  })
