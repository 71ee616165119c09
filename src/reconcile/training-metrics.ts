import { Counter, Histogram, type Registry } from 'prom-client'
import type { CostStatus } from '../api/training-cost.ts'
import type { TrainingJobState, TrainingJobStatus } from '../api/training-status.ts'
import type { ObjectKey } from '../kube/object.ts'
import type { PlannedStatus } from '../plan/training/index.ts'
import { type Ended, LabelLimit } from '../runtime/index.ts'
import { CostCounters } from './cost-counters.ts'

const RECONCILE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TRAINING_SECONDS = [
  10,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  16 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
]

/**
 * Counters over all jobs. An event counts in the pass that records it: the acceptance of a job, or its final state. So a
 * restarted operator starts at 0 and does not count existing jobs again.
 */
export class TrainingMetrics {
  readonly #namespaces = new LabelLimit()
  readonly #created: Counter<'namespace'>
  readonly #createdOverall: Counter
  readonly #completed: Counter<'namespace'>
  readonly #failed: Counter<'namespace' | 'reason'>
  readonly #durations: Histogram
  readonly #cost: CostCounters
  readonly #reconciles: Histogram<'namespace'>
  readonly #errors: Counter<'namespace' | 'error_type'>

  constructor(registry: Registry) {
    const registers = [registry]
    const counter = <L extends string>(name: string, help: string, labelNames: L[]): Counter<L> =>
      new Counter({ name, help, labelNames, registers })
    this.#created = counter('trainingjob_created_total', 'TrainingJobs that were accepted', ['namespace'])
    this.#createdOverall = counter(
      'training_jobs_created_total',
      'TrainingJobs that were accepted, in all namespaces',
      [],
    )
    this.#completed = counter('trainingjob_completed_total', 'TrainingJobs that have completed', ['namespace'])
    this.#failed = counter('trainingjob_failed_total', 'TrainingJobs that have failed, by reason', [
      'namespace',
      'reason',
    ])
    this.#errors = counter(
      'trainingjob_operator_errors_total',
      'Failed reconciles of TrainingJobs, by code of the error',
      ['namespace', 'error_type'],
    )
    this.#cost = new CostCounters(registry)
    this.#durations = new Histogram({
      name: 'training_job_duration_seconds',
      help: 'Time from the start of the first worker to the end of a job, completed or failed',
      buckets: TRAINING_SECONDS,
      registers,
    })
    this.#reconciles = new Histogram({
      name: 'trainingjob_operator_reconcile_duration_seconds',
      help: 'Duration of reconciles of TrainingJobs',
      labelNames: ['namespace'],
      buckets: RECONCILE_SECONDS,
      registers,
    })
  }

  /** To be called when the acceptance of a job was stored. */
  accepted(key: ObjectKey): void {
    this.#created.inc(this.#namespaceOf(key))
    this.#createdOverall.inc()
  }

  /** To be called when a status was stored. */
  noted(key: ObjectKey, before: TrainingJobStatus | undefined, now: PlannedStatus | undefined): void {
    const became = (state: TrainingJobState): boolean => now?.state === state && before?.state !== state
    const namespace = this.#namespaceOf(key)
    this.spent(key, before?.cost, now?.cost)
    if (became('Completed')) this.#completed.inc(namespace)
    else if (became('Failed')) this.#failed.inc({ ...namespace, reason: reasonOf(now) })
    else return
    const seconds = secondsBetween(now?.startTime, now?.completionTime)
    if (seconds !== undefined) this.#durations.observe(seconds)
  }

  /** To be called when a cost was stored, or when a job with this cost is gone. */
  spent(key: ObjectKey, before: CostStatus | undefined, now: CostStatus | undefined): void {
    this.#cost.add(this.#namespaceOf(key), before, now)
  }

  readonly reconciled = (key: ObjectKey, { ms, code }: Ended): void => {
    const namespace = this.#namespaceOf(key)
    this.#reconciles.observe(namespace, ms / 1000)
    if (code !== undefined) this.#errors.inc({ ...namespace, error_type: code })
  }

  #namespaceOf({ namespace = '' }: ObjectKey): { readonly namespace: string } {
    return { namespace: this.#namespaces.of(namespace) }
  }
}

function reasonOf(status: PlannedStatus | undefined): string {
  return status?.conditions?.find(({ type }) => type === 'Failed')?.reason ?? 'Unknown'
}

function secondsBetween(start: string | undefined, end: string | undefined): number | undefined {
  if (start === undefined || end === undefined) return undefined
  return Math.max(0, (Date.parse(end) - Date.parse(start)) / 1000)
}
