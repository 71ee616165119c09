/** Counters of what jobs have used and cost, by namespace: the differences between statuses that were stored. */
import { Counter, type Registry } from 'prom-client'
import type { CostStatus } from '../api/training-cost.ts'

type Amounts = Pick<CostStatus, 'gpuHours' | 'cpuHours' | 'estimated'>
type Label = 'namespace'

const NOTHING: Amounts = { gpuHours: 0, cpuHours: 0 }
const SECONDS_PER_HOUR = 3600

export class CostCounters {
  readonly #gpuSeconds: Counter<Label>
  readonly #cpuSeconds: Counter<Label>
  readonly #cost: Counter<Label>

  constructor(registry: Registry) {
    const counter = (name: string, help: string): Counter<Label> =>
      new Counter({ name, help, labelNames: ['namespace'], registers: [registry] })
    const when = 'counted with updates of their status'
    this.#gpuSeconds = counter(
      'trainingjob_gpu_seconds_total',
      `GPUs times seconds that TrainingJobs have held, ${when}`,
    )
    this.#cpuSeconds = counter(
      'trainingjob_cpu_seconds_total',
      `CPUs times seconds that TrainingJobs have held, ${when}`,
    )
    this.#cost = counter(
      'trainingjob_estimated_cost_total',
      'Estimated cost of TrainingJobs by the configured prices, in the configured currency',
    )
  }

  add(namespace: { readonly namespace: string }, before: Amounts = NOTHING, now: Amounts | undefined): void {
    if (!now) return
    const hours = { gpu: now.gpuHours - before.gpuHours, cpu: now.cpuHours - before.cpuHours }
    const money = (now.estimated ?? 0) - (before.estimated ?? 0)
    if (hours.gpu > 0) this.#gpuSeconds.inc(namespace, Math.round(hours.gpu * SECONDS_PER_HOUR))
    if (hours.cpu > 0) this.#cpuSeconds.inc(namespace, thousandths(hours.cpu * SECONDS_PER_HOUR))
    if (money > 0) this.#cost.inc(namespace, money)
  }
}

const thousandths = (value: number): number => Math.round(value * 1000) / 1000
