/** The cost over random histories, against a record of every pod that the test keeps itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { CostStatus } from '../../../api/training-cost.ts'
import type { Pod } from '../../../kube/resources.ts'
import { podRequests } from '../../pod/requests.ts'

const RUNS = { numRuns: 40 }
const SPEC = {
  numWorkers: 2,
  gpusPerWorker: 2,
  image: 'i',
  command: ['python', 'x'],
  resources: { requests: { cpu: '1300m', memory: '3Gi' } },
  elastic: { minWorkers: 1, maxWorkers: 6 },
  backoffLimit: 3,
}

interface Life {
  readonly gpus: number
  readonly cpus: number
  readonly start: number
  end?: number
}

/** When each pod was placed, and when it ended or was gone. */
class Ledger {
  readonly #lives = new Map<string, Life>()

  observe({ pods, now }: TrainingCluster): void {
    const present = new Set(pods.map(({ metadata }) => metadata.uid ?? ''))
    for (const [uid, life] of this.#lives) if (!present.has(uid)) life.end ??= now
    for (const pod of pods) this.#observePod(pod, now)
  }

  #observePod({ metadata: { uid = '' }, spec, status }: Pod, now: number): void {
    if (spec?.nodeName === undefined) return
    const requests = podRequests(spec)
    const amount = (name: string): number => Number(requests.get(name) ?? 0n) / 1e9
    const life = this.#lives.get(uid) ?? { gpus: amount('nvidia.com/gpu'), cpus: amount('cpu'), start: now }
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') life.end ??= now
    this.#lives.set(uid, life)
  }

  hours(now: number, what: 'cpus' | 'gpus'): number {
    const each = [...this.#lives.values()].map(({ start, end = now, ...held }) => held[what] * (end - start))
    return each.reduce((sum, one) => sum + one, 0) / 3_600_000
  }
}

type Move = (cluster: TrainingCluster) => void

const podMoves: Readonly<Record<string, (cluster: TrainingCluster, pod: Pod) => void>> = {
  run: (cluster, pod) => pod.status?.phase === 'Pending' && cluster.run(pod),
  succeed: (cluster, pod) => pod.status?.phase === 'Running' && cluster.exit(pod, { exitCode: 0 }),
  fail: (cluster, pod) => pod.status?.phase === 'Running' && cluster.exit(pod, { exitCode: 1 }),
  delete: (cluster, pod) => cluster.delete(pod),
  vanish: (cluster, pod) => cluster.vanish(pod),
}

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.tuple(fc.constantFrom(...Object.keys(podMoves)), fc.nat(7)).map(([name, which]): Move => (cluster) => {
    const pod = cluster.pods[which % Math.max(1, cluster.pods.length)]
    if (pod) podMoves[name]?.(cluster, pod)
  }),
  fc.constant<Move>((cluster) => cluster.runAll()),
  fc.constant<Move>((cluster) => cluster.letGo()),
  fc.boolean().map(
    (suspend): Move =>
      (cluster) =>
        cluster.edit({ suspend }),
  ),
  fc.integer({ min: 1, max: 6 }).map(
    (numWorkers): Move =>
      (cluster) =>
        cluster.edit({ numWorkers }),
  ),
)

const step = fc.record({
  act: move,
  /** The operator crashes after so many writes, and starts again. */
  survives: fc.nat(4),
  seconds: fc.integer({ min: 0, max: 9_000 }),
})

const near = (one: number, other: number): boolean => Math.abs(one - other) < 1e-6

function assertMonotone(before: CostStatus | undefined, after: CostStatus | undefined): void {
  if (!before) return
  assert.ok(after, 'a cost is never lost')
  assert.ok(after.gpuHours >= before.gpuHours && after.cpuHours >= before.cpuHours && after.time >= before.time)
  assert.ok((after.estimated ?? 0) >= (before.estimated ?? 0))
}

for (const engine of ['pods', 'job'])
  test(`engine ${engine}: attempts sum up to the time of all pods, wherever the operator crashes`, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 16 }), (steps) => {
        const ledger = new Ledger()
        const cluster = new TrainingCluster({ ...SPEC, engine }, () => ledger.observe(cluster))
        Object.assign(cluster.config, { cost: { currency: 'USD', prices: [{ gpuHour: 2 }] } })
        for (const { act, survives, seconds } of steps) {
          const before = cluster.job.status?.cost
          act(cluster)
          cluster.nodes.splice(0, cluster.nodes.length, ...cluster.nodes.map((node) => ({ ...node, labels: {} })))
          ledger.observe(cluster)
          cluster.pass(survives)
          cluster.restartOperator()
          cluster.settle()
          ledger.observe(cluster)
          assertMonotone(before, cluster.job.status?.cost)
          cluster.now += seconds * 1000
        }
        // Any other change of the status brings the cost up to date.
        cluster.edit({ backoffLimit: 4 })
        cluster.settle()
        const { gpuHours = 0, cpuHours = 0, estimated = 0, attempts = [] } = cluster.job.status?.cost ?? {}
        assert.ok(near(gpuHours, ledger.hours(cluster.now, 'gpus')), `${gpuHours} GPU hours`)
        assert.ok(near(cpuHours, ledger.hours(cluster.now, 'cpus')), `${cpuHours} CPU hours`)
        assert.ok(Math.abs(estimated - 2 * gpuHours) < 1e-3, `${estimated}`)
        if (attempts.length === 16) return
        assert.ok(
          near(
            attempts.reduce((sum, one) => sum + one.gpuHours, 0),
            gpuHours,
          ),
        )
        assert.ok(
          near(
            attempts.reduce((sum, one) => sum + one.cpuHours, 0),
            cpuHours,
          ),
        )
      }),
      RUNS,
    )
  })
