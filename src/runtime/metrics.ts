/**
 * The metrics of the runtime, for Prometheus. Each instance has its own registry, so that two managers in one process, or
 * two tests, share nothing. No label has the name of an object, so the number of series stays small.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Interceptor } from '../kube/interceptor.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Classification } from './errors.ts'
import { PrefixedMetrics } from './prefixed-metrics.ts'

const FAST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const QUANTILES = [50, 99, 99.9]
const NANOSECONDS = 1e9

export type ReconcileOutcome = 'success' | 'requeue' | 'error'

export class RuntimeMetrics extends PrefixedMetrics {
  readonly #clock: Clock
  readonly #queueWait = this.histogram('workqueue_wait_seconds', 'Time a ready key waited for a worker', {
    labelNames: ['controller'],
    buckets: FAST_SECONDS,
  })
  readonly #reconciles = this.histogram('reconcile_duration_seconds', 'Duration of reconciles by outcome', {
    labelNames: ['controller', 'outcome'],
    buckets: FAST_SECONDS,
  })
  readonly #errors = this.counter('reconcile_errors_total', 'Failed reconciles by class and code of the error', [
    'controller',
    'class',
    'code',
  ])
  readonly #mappingErrors = this.counter('mapping_errors_total', 'Mapping functions and filters that threw', [
    'controller',
    'kind',
  ])
  readonly #requests = this.counter('kube_requests_total', 'Calls to the API server', ['verb', 'kind', 'code'])
  readonly #latency = this.histogram('kube_request_duration_seconds', 'Time until the API server answered', {
    labelNames: ['verb', 'kind'],
    buckets: FAST_SECONDS,
  })
  readonly #restarts = this.counter('watch_restarts_total', 'Watches that had to begin again, by cause', [
    'kind',
    'cause',
  ])
  readonly #events = this.counter('events_dropped_total', 'Events that were not sent, by cause', ['cause'])
  readonly #lines = this.counter(
    'log_lines_dropped_total',
    'Lines that were not logged, because there were too many',
    [],
  )
  readonly #writes = this.counter('commit_writes_total', 'Writes by commit, and those it found needless', [
    'kind',
    'action',
  ])

  /** The prefix tells the metrics of this program from those of others, such as `my_operator_`. */
  constructor(clock: Clock = systemClock, prefix = '') {
    super(prefix)
    this.#clock = clock
  }

  /** Counts and times every call. Install it in the client. */
  readonly interceptor: Interceptor = async (call, next) => {
    const labels = { verb: call.verb, kind: call.resource?.kind ?? 'none' }
    const started = this.#clock.monotonic()
    const count = (code: number | string): void => {
      this.#requests.inc({ ...labels, code: String(code) })
      if (call.verb !== 'watch') this.#latency.observe(labels, (this.#clock.monotonic() - started) / 1000)
    }
    try {
      const response = await next(call)
      count(response.status)
      return response
    } catch (error) {
      count('none')
      throw error
    }
  }

  queueWaited(controller: string, ms: number): void {
    this.#queueWait.observe({ controller }, ms / 1000)
  }

  reconciled(controller: string, outcome: ReconcileOutcome, ms: number): void {
    this.#reconciles.observe({ controller, outcome }, ms / 1000)
  }

  failed(controller: string, { class: errorClass, code }: Classification): void {
    this.#errors.inc({ controller, class: errorClass, code })
  }

  mappingFailed(controller: string, kind: string): void {
    this.#mappingErrors.inc({ controller, kind })
  }

  watchRestarted(kind: string, cause: string): void {
    this.#restarts.inc({ kind, cause })
  }

  eventDropped(cause: 'rate' | 'refused' | 'overflow'): void {
    this.#events.inc({ cause })
  }

  lineDropped(): void {
    this.#lines.inc()
  }

  committed(kind: string, action: 'applied' | 'annotated' | 'pruned' | 'status' | 'skipped' | 'conflict'): void {
    this.#writes.inc({ kind, action })
  }

  /** Measures the delay of timers, which shows work that blocks the thread. The returned function stops it. */
  monitorEventLoop(): () => void {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const help = 'Delay of the event loop since the last scrape'
    this.gauge({ name: 'event_loop_delay_seconds', help, labelNames: ['quantile'] }, () => drain(delay))
    return () => delay.disable()
  }
}

function drain(delay: ReturnType<typeof monitorEventLoopDelay>): [{ quantile: string }, number][] {
  const samples = QUANTILES.map((quantile): [{ quantile: string }, number] => [
    { quantile: String(quantile / 100) },
    delay.percentile(quantile) / NANOSECONDS,
  ])
  delay.reset()
  return samples
}
