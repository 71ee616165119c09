/**
 * One reconciler and its queue: takes a key, runs the reconciler, judges the outcome, measures. This is the only place
 * where errors are caught, classified, logged, counted and retried.
 *
 * Guarantees
 * - A key is never reconciled twice at once, also not when a reconcile has outlived its time limit: the worker goes on
 *   to other keys, the key itself waits until the old run has really returned.
 * - No reconcile starts before the caches show everything that the last reconcile of that key wrote. Such a key waits
 *   outside the workers; when it has waited for `STALE_AFTER_MS`, that is reported as `StaleCache`, and it goes on
 *   waiting: acting on the past is worse than acting late.
 * - Whatever a reconciler throws, the process and the other keys go on.
 * - `stop` returns within its grace period. `abort` ends all signals at once.
 *
 * Assumptions
 * - Reconcilers read the caches afresh in every run, and give up soon after their signal aborts.
 * - They yield: a loop that never awaits stops the whole process, which only the event-loop metric can show.
 */
import { randomUUID } from 'node:crypto'
import type { Client } from '../kube/client.ts'
import { keyOf, type ObjectKey } from '../kube/object.ts'
import { spread } from './backoff.ts'
import type { Cache } from './cache.ts'
import { type Cancel, type Clock, within } from './clock.ts'
import { classify, RuntimeError, type Verdict } from './errors.ts'
import { type Logger, reconcileLogger } from './log.ts'
import type { ReconcileOutcome, RuntimeMetrics } from './metrics.ts'
import type { WorkItem, WorkQueue } from './workqueue.ts'
import type { WriteLog } from './write-log.ts'

export interface ReconcileContext {
  /** Aborts on the time limit, at shutdown and when the lead is lost. Pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly log: Logger
  readonly reconcileId: string
  /** Write through this one: the next reconcile of the key waits until the caches show what it wrote. */
  readonly client: Client
}

export interface Result {
  /** Look again after this time, even if nothing changes. */
  readonly requeueAfterMs?: number
}

export type Reconciler = (key: ObjectKey, context: ReconcileContext) => Promise<Result | void>

export interface ControllerOptions {
  /** How many keys at once. */
  readonly concurrency?: number
  /** How long one reconcile may take. */
  readonly timeoutMs?: number
  /** How often every object is looked at without a reason; spread by a tenth, so controllers do not move in step. */
  readonly resyncMs?: number
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
}

type Outcome = { readonly result: Result } | { readonly error: unknown }

const STALE_AFTER_MS = 5_000
/** How long an aborted reconcile may take to notice. */
const ABORT_MS = 1_000
const RESYNC_JITTER = 0.1

export class Controller {
  readonly #deps: ControllerDeps
  readonly #options: Required<ControllerOptions>
  /** What runs, also past its time limit: how to end it, and its end. */
  readonly #running = new Map<AbortController, Promise<void>>()
  #workers: Promise<void>[] = []
  #cancelResync: Cancel = () => undefined

  constructor(deps: ControllerDeps, options: ControllerOptions = {}) {
    this.#deps = deps
    this.#options = { concurrency: 4, timeoutMs: 2 * 60_000, resyncMs: 10 * 60_000, ...options }
  }

  get name(): string {
    return this.#deps.name
  }

  start(): void {
    this.#workers = Array.from({ length: this.#options.concurrency }, () => this.#work())
    this.#scheduleResync()
  }

  /**
   * Takes no more keys, lets the running reconciles finish within `graceMs`, then aborts them and waits a last moment.
   * True if everything has finished, so that certainly nothing of this controller writes any more.
   */
  async stop(graceMs: number): Promise<boolean> {
    this.#cancelResync()
    this.#deps.queue.close()
    if (await this.#finishes(graceMs)) return true
    this.abort(new RuntimeError('Cancelled', 'the process is shutting down'))
    return this.#finishes(ABORT_MS)
  }

  /** Ends the signal of everything that runs. */
  abort(reason: RuntimeError): void {
    this.#deps.queue.close()
    for (const running of this.#running.keys()) running.abort(reason)
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

  /** Sends a key away whose own last writes are not in the caches yet. */
  #waitsForCache({ key }: WorkItem): boolean {
    const { writes, queue, log, metrics } = this.#deps
    const stale = writes.staleness(key, Math.random())
    if (!stale) return false
    if (stale.forMs > STALE_AFTER_MS) {
      log.warn({ controller: this.name, ...key, ...stale, code: 'StaleCache' }, 'waiting for the cache to catch up')
      metrics.failed(this.name, classify(new RuntimeError('StaleCache', 'the cache is behind')))
    }
    queue.addAfter(key, stale.checkAfterMs)
    queue.done(key)
    return true
  }

  async #reconcile({ key }: WorkItem): Promise<void> {
    const { clock, metrics } = this.#deps
    const started = clock.monotonic()
    const abort = new AbortController()
    const context = this.#context(key, abort.signal)
    const run = this.#run(key, context)
    const ended = Promise.withResolvers<void>()
    this.#running.set(abort, ended.promise)
    const outcome = await this.#withinTime(run, abort)
    metrics.reconciled(this.name, this.#judge(key, outcome, context), clock.monotonic() - started)
    void run.then(() => {
      this.#running.delete(abort)
      this.#deps.queue.done(key)
      ended.resolve()
    })
  }

  /** Runs the reconciler; whatever happens becomes a value. */
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

  #judge(key: ObjectKey, outcome: Outcome, { signal, log }: ReconcileContext): ReconcileOutcome {
    const { queue } = this.#deps
    if ('error' in outcome) {
      // Whatever an aborted run threw, it failed for the reason it was aborted for.
      this.#fail(key, signal.aborted ? signal.reason : outcome.error, log)
      return 'error'
    }
    queue.forget(key)
    const { requeueAfterMs } = outcome.result
    if (requeueAfterMs === undefined) return 'success'
    queue.addAfter(key, requeueAfterMs)
    return 'requeue'
  }

  #fail(key: ObjectKey, error: unknown, log: Logger): void {
    const verdict = classify(error)
    const { code } = verdict
    if (code === 'Cancelled') return log.debug({ err: error }, 'cancelled')
    this.#deps.metrics.failed(this.name, verdict)
    const retryInMs = this.#retry(key, verdict)
    log[levelOf(verdict)]({ err: error, code, class: verdict.class, retryInMs }, 'reconcile failed')
  }

  /** The delay until the next try, or undefined if there is none. */
  #retry(key: ObjectKey, { retry, retryAfterMs }: Verdict): number | undefined {
    const { queue } = this.#deps
    if (retry === 'never') {
      queue.forget(key)
      return undefined
    }
    if (retry === 'backoff' || retryAfterMs === undefined) return queue.retry(key)
    queue.addAfter(key, retryAfterMs)
    return retryAfterMs
  }

  #context(key: ObjectKey, signal: AbortSignal): ReconcileContext {
    const { client, writes } = this.#deps
    const reconcileId = randomUUID()
    const log = reconcileLogger(this.#deps.log, { controller: this.name, ...key, reconcileId })
    return { signal, log, reconcileId, client: writes.clientFor(key, client) }
  }

  #scheduleResync(): void {
    const { clock, primary, queue } = this.#deps
    const resync = (): void => {
      for (const object of primary.list()) queue.add(keyOf(object), 'background')
      this.#scheduleResync()
    }
    this.#cancelResync = clock.setTimeout(resync, spread(this.#options.resyncMs, RESYNC_JITTER, Math.random()))
  }
}

/** A conflict is everyday life, and so is a namespace that goes; what waits for people is an error. */
function levelOf({ class: kind, code }: Verdict): 'info' | 'warn' | 'error' {
  if (code === 'ApiConflict' || code === 'NamespaceTerminating') return 'info'
  return kind === 'transient' && code !== 'Unexpected' ? 'warn' : 'error'
}
