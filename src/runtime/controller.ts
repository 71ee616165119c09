/**
 * One reconciler and its queue: takes a key, runs the reconciler, handles the outcome, records metrics. Only here are
 * failed reconciles logged, counted and retried. `classify` decides how (see `errors.ts`).
 *
 * Guarantees
 * - A key is never reconciled twice at the same time. If a reconcile exceeds its time limit, the worker continues with
 *   other keys, but the key itself waits until the old run has returned.
 * - No reconcile starts before the caches show everything that the last reconcile of that key wrote. Meanwhile the key
 *   occupies no worker. After `STALE_AFTER_MS` the wait is reported as `StaleCache` and continues: acting late is better
 *   than acting on stale state.
 * - Whatever a reconciler throws, the process and the other keys continue.
 * - A key that failed waits for its backoff, whatever wakes it. Only a change of the object other than to its status ends
 *   the backoff early, so a failure that is written to the status does not trigger itself.
 * - `stop` returns within its grace period. `abort` aborts all signals at once.
 *
 * Assumptions
 * - Reconcilers read the caches anew in every run, and return soon after their signal aborts.
 * - They yield to the event loop. A loop that never awaits blocks the whole process; only the event-loop metric shows it.
 */
import { randomUUID } from 'node:crypto'
import type { Client } from '../kube/client.ts'
import type { ObjectKey } from '../kube/object.ts'
import type { Cache } from './cache.ts'
import { type Clock, within } from './clock.ts'
import { classify, RuntimeError, type Classification, type ErrorCode } from './errors.ts'
import { ForeignWatches } from './foreign-watches.ts'
import type { LineBudget } from './line-budget.ts'
import { type Logger, type Note, reconcileLogger } from './log.ts'
import type { ReconcileOutcome, RuntimeMetrics } from './metrics.ts'
import { NameConflict } from './name-conflict.ts'
import { Resync } from './resync.ts'
import type { ReconcileSpan, Tracing } from './tracing.ts'
import type { WorkItem, WorkQueue } from './workqueue.ts'
import type { WriteLog } from './write-log.ts'

export interface ReconcileContext {
  /** Aborts at the time limit, at shutdown and when leadership is lost. Pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Logs what was decided about the object, within its budget of lines. */
  readonly note: Note
  readonly reconcileId: string
  /** Use it for all writes: the next reconcile of the key waits until the caches show them. */
  readonly client: Client
}

export interface Result {
  /** Reconcile again after this time, even if nothing changes. */
  readonly requeueAfterMs?: number
}

export type Reconciler = (key: ObjectKey, context: ReconcileContext) => Promise<Result | void>

export interface ControllerOptions {
  /** Number of keys reconciled at the same time. */
  readonly concurrency?: number
  /** Time limit of one reconcile. */
  readonly timeoutMs?: number
  /** Interval at which every object is reconciled even without a change. */
  readonly resyncMs?: number
  /** Called after each reconcile, for metrics about the objects. Must not throw. */
  readonly onReconciled?: (key: ObjectKey, ended: Ended) => void
}

/** How a reconcile ended. */
export interface Ended {
  readonly outcome: ReconcileOutcome
  readonly ms: number
  /** Of the error, unless the reconcile was cancelled. */
  readonly code?: ErrorCode
}

export interface ControllerDeps {
  readonly name: string
  readonly reconciler: Reconciler
  /** The cache of the kind that the keys name. */
  readonly primary: Cache
  readonly queue: WorkQueue
  readonly writes: WriteLog
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: RuntimeMetrics
  readonly lines: LineBudget
  /** Default: reconciles are not traced. */
  readonly tracing?: Tracing | undefined
}

/** What identifies a reconcile in logs and traces. */
interface Identity {
  readonly reconcileId: string
  readonly span: ReconcileSpan | undefined
}

type Outcome = { readonly result: Result } | { readonly error: unknown }

const ignore = (): void => undefined

const STALE_AFTER_MS = 5_000
/** Time for an aborted reconcile to return. */
const ABORT_MS = 1_000
/** Retry delay after a name conflict whose objects cannot be watched because there are too many. */
const CONFLICT_RETRY_MS = 60_000

export class Controller {
  readonly #deps: ControllerDeps
  readonly #options: Required<ControllerOptions>
  /** Running reconciles, also past their time limit: how to abort each, and a promise of its end. */
  readonly #running = new Map<AbortController, Promise<void>>()
  readonly #foreign: ForeignWatches
  readonly #resync: Resync
  #workers: Promise<void>[] = []

  constructor(deps: ControllerDeps, options: ControllerOptions = {}) {
    this.#deps = deps
    this.#foreign = new ForeignWatches(deps.client, (key) => deps.queue.add(key, 'user', 'ends'))
    this.#options = { concurrency: 4, timeoutMs: 2 * 60_000, resyncMs: 10 * 60_000, onReconciled: ignore, ...options }
    const { clock, primary, queue } = deps
    this.#resync = new Resync({ clock, primary, queue, everyMs: this.#options.resyncMs })
  }

  get name(): string {
    return this.#deps.name
  }

  start(): void {
    this.#workers = Array.from({ length: this.#options.concurrency }, () => this.#work())
    this.#resync.start()
  }

  /**
   * Takes no more keys, lets running reconciles finish within `graceMs`, then aborts them and waits for `ABORT_MS`.
   * True if all have returned: then nothing of this controller writes any more.
   */
  async stop(graceMs: number): Promise<boolean> {
    this.#resync.stop()
    this.#close()
    if (await this.#finishes(graceMs)) return true
    this.abort(new RuntimeError('Cancelled', 'the process is shutting down'))
    return this.#finishes(ABORT_MS)
  }

  /** Aborts the signals of all running reconciles. */
  abort(reason: RuntimeError): void {
    this.#close()
    for (const running of this.#running.keys()) running.abort(reason)
  }

  #close(): void {
    this.#deps.queue.close()
    this.#foreign.close()
  }

  async #finishes(withinMs: number): Promise<boolean> {
    const finished = Promise.all([...this.#workers, ...this.#running.values()]).then(() => true)
    return (await within(this.#deps.clock, withinMs, finished)) ?? false
  }

  async #work(): Promise<void> {
    for (let item = await this.#deps.queue.take(); item; item = await this.#deps.queue.take()) {
      this.#deps.metrics.queueWaited(this.name, item.waitedMs)
      if (!this.#waitsForCache(item)) await this.#reconcile(item)
    }
  }

  /** Requeues a key whose own last writes are not in the caches yet. */
  #waitsForCache({ key }: WorkItem): boolean {
    const { writes, queue, log, metrics } = this.#deps
    const stale = writes.staleness(key, Math.random())
    if (!stale) return false
    if (stale.forMs > STALE_AFTER_MS) {
      this.#noteTo(log, key)(
        'warn',
        { controller: this.name, ...key, ...stale, code: 'StaleCache' },
        'waiting for a stale cache',
      )
      metrics.failed(this.name, classify(new RuntimeError('StaleCache', 'the cache is behind')))
    }
    queue.addAfter(key, stale.checkAfterMs)
    queue.done(key)
    return true
  }

  async #reconcile({ key }: WorkItem): Promise<void> {
    const { clock, metrics, tracing, primary } = this.#deps
    const started = clock.monotonic()
    const abort = new AbortController()
    const reconcileId = randomUUID()
    const span = tracing?.reconcile({ controller: this.name, kind: primary.resource.kind, ...key, reconcileId })
    const context = this.#context(key, abort.signal, { reconcileId, span })
    const run = span ? span.run(() => this.#run(key, context)) : this.#run(key, context)
    const returned = Promise.withResolvers<void>()
    this.#running.set(abort, returned.promise)
    const outcome = await this.#withinTime(run, abort)
    const ended = { ...this.#handle(key, outcome, context), ms: clock.monotonic() - started }
    metrics.reconciled(this.name, ended.outcome, ended.ms)
    this.#options.onReconciled(key, ended)
    span?.end(ended)
    void run.then(() => {
      this.#running.delete(abort)
      this.#deps.queue.done(key)
      returned.resolve()
    })
  }

  /** Runs the reconciler. Returns errors as values. */
  async #run(key: ObjectKey, context: ReconcileContext): Promise<Outcome> {
    try {
      return { result: (await this.#deps.reconciler(key, context)) ?? {} }
    } catch (error) {
      return { error }
    }
  }

  async #withinTime(run: Promise<Outcome>, abort: AbortController): Promise<Outcome> {
    const { timeoutMs } = this.#options
    const overdue = Promise.withResolvers<Outcome>()
    const cancel = this.#deps.clock.setTimeout(() => {
      const error = new RuntimeError('ReconcileTimeout', `the reconcile took longer than ${timeoutMs} ms`)
      overdue.resolve({ error })
      abort.abort(error)
    }, timeoutMs)
    abort.signal.addEventListener('abort', cancel, { once: true })
    const outcome = await Promise.race([run, overdue.promise])
    cancel()
    return outcome
  }

  #handle(key: ObjectKey, outcome: Outcome, { signal, log, note }: ReconcileContext): Omit<Ended, 'ms'> {
    const { queue } = this.#deps
    if ('error' in outcome) {
      // An aborted run failed for the reason of the abort, whatever it threw.
      const code = this.#fail(key, signal.aborted ? signal.reason : outcome.error, { log, note })
      return { outcome: 'error', ...(code !== undefined && { code }) }
    }
    queue.forget(key)
    this.#foreign.release(key)
    const { requeueAfterMs } = outcome.result
    if (requeueAfterMs === undefined) return { outcome: 'success' }
    queue.addAfter(key, requeueAfterMs)
    return { outcome: 'requeue' }
  }

  /** Returns the code of the error, unless the reconcile was cancelled. */
  #fail(key: ObjectKey, error: unknown, { log, note }: Pick<ReconcileContext, 'log' | 'note'>): ErrorCode | undefined {
    const classification = classify(error)
    const { code } = classification
    if (code === 'Cancelled') {
      log.debug({ err: error }, 'cancelled')
      return undefined
    }
    this.#deps.metrics.failed(this.name, classification)
    const retryInMs = this.#retry(
      key,
      error instanceof NameConflict ? this.#follow(key, error, classification) : classification,
    )
    note(levelOf(classification), { err: error, code, class: classification.class, retryInMs }, 'reconcile failed')
    return code
  }

  /** Watches the objects of a name conflict: a change of them triggers the next attempt. */
  #follow(key: ObjectKey, { objects }: NameConflict, classification: Classification): Classification {
    if (this.#foreign.follow(key, objects)) return classification
    return { ...classification, retry: 'after', retryAfterMs: CONFLICT_RETRY_MS }
  }

  /** Schedules the next attempt and returns its delay, or undefined if only a change triggers it. */
  #retry(key: ObjectKey, { retry, retryAfterMs }: Classification): number | undefined {
    const { queue } = this.#deps
    if (retry === 'never') return void queue.hold(key)
    if (retry === 'backoff' || retryAfterMs === undefined) return queue.retry(key)
    queue.retryAfter(key, retryAfterMs)
    return retryAfterMs
  }

  #context(key: ObjectKey, signal: AbortSignal, { reconcileId, span }: Identity): ReconcileContext {
    const { client, writes, primary } = this.#deps
    const { kind } = primary.resource
    const trace = span && { traceId: span.traceId }
    const log = reconcileLogger(this.#deps.log, { controller: this.name, kind, ...key, reconcileId, ...trace })
    return { signal, log, note: this.#noteTo(log, key), reconcileId, client: writes.clientFor(key, client) }
  }

  #noteTo(log: Logger, key: ObjectKey): Note {
    return (level, fields, message) => {
      const sampled = this.#deps.lines.take(this.name, key)
      if (sampled) log[level]({ ...fields, ...sampled }, message)
    }
  }
}

/** Conflicts and terminating namespaces are normal. What waits for people is an error. */
function levelOf({ class: kind, code }: Classification): 'info' | 'warn' | 'error' {
  if (code === 'ApiConflict' || code === 'NamespaceTerminating') return 'info'
  return kind === 'transient' && code !== 'Unexpected' ? 'warn' : 'error'
}
