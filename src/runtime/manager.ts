/**
 * Runs an operator process: server, caches, leader election, controllers. Started in that order, stopped in reverse.
 *
 * Guarantees
 * - Controllers run only after all caches have synced and, with leader election, only while this process is the leader.
 * - Every write through `client` passes the gate, which rejects it unless this process is the leader (see `gate.ts`).
 * - When leadership is lost, all reconciles are aborted at once and `run` rejects: the process should exit and restart as
 *   a candidate. When the signal aborts, `run` resolves within `shutdownMs` plus a few seconds.
 * - The lease is released only if nothing writes any more; otherwise it expires.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Client } from '../kube/client.ts'
import type { Call, Interceptor } from '../kube/interceptor.ts'
import { ControllerBuilder } from './builder.ts'
import { Caches } from './caches.ts'
import { type BackoffPolicy, defaultBackoff } from './backoff.ts'
import { type Clock, systemClock, within } from './clock.ts'
import type { Controller } from './controller.ts'
import { RuntimeError } from './errors.ts'
import { EventRecorder } from './events.ts'
import { writeGate } from './gate.ts'
import { Health } from './health.ts'
import { type LeaderElection, LeaderElector } from './leader.ts'
import { LineBudget } from './line-budget.ts'
import type { Logger } from './log.ts'
import { RuntimeMetrics } from './metrics.ts'
import { serve, type ServerOptions } from './server.ts'
import type { Tracing } from './tracing.ts'
import { WorkQueue } from './workqueue.ts'
import { WriteLog } from './write-log.ts'

export interface ManagerOptions {
  /** The name of the program, as the reporting controller of events. */
  readonly name: string
  /**
   * Builds a client with the manager's interceptors: metrics, and the gate for writes. Called a second time for the lease,
   * which has its own connections and retry budget, so that other calls cannot delay a renewal.
   */
  readonly connect: (interceptors: Interceptor[]) => Client
  readonly log: Logger
  /** Default: no election; this process is always the leader. */
  readonly leaderElection?: Omit<LeaderElection, 'identity'> & { readonly identity?: string }
  /** Serves `/healthz`, `/readyz` and `/metrics`. Default: no server. */
  readonly server?: Pick<ServerOptions, 'port' | 'host' | 'authorizeMetrics'>
  /** Prefix of the runtime's metrics, such as `my_operator_`. Default: none. */
  readonly metricsPrefix?: string
  /** Time for running reconciles to finish at shutdown. */
  readonly shutdownMs?: number
  /** The backoff of failed keys. */
  readonly backoff?: BackoffPolicy
  /** Traces reconciles and their calls. Default: nothing is traced. */
  readonly tracing?: Tracing | undefined
  readonly clock?: Clock
}

/** Time to send the last events at shutdown. */
const FLUSH_MS = 1_000

export class Manager {
  readonly identity: string
  readonly client: Client
  readonly caches: Caches
  readonly recorder: EventRecorder
  readonly health = new Health()
  readonly metrics: RuntimeMetrics
  readonly clock: Clock
  readonly log: Logger
  readonly #shutdownMs: number
  readonly #backoff: BackoffPolicy
  readonly #server: ManagerOptions['server']
  readonly #elector: LeaderElector | undefined
  readonly #leaseClient: Client | undefined
  readonly #lines: LineBudget
  readonly #tracing: Tracing | undefined
  readonly #controllers: Controller[] = []
  readonly #queues = new Map<string, WorkQueue>()

  constructor(options: ManagerOptions) {
    const { name, connect, log, leaderElection, clock = systemClock } = options
    this.clock = clock
    this.log = log
    this.#shutdownMs = options.shutdownMs ?? 20_000
    this.#backoff = options.backoff ?? defaultBackoff
    this.#server = options.server
    this.identity = leaderElection?.identity ?? `${hostname()}_${randomUUID()}`
    this.metrics = new RuntimeMetrics(clock, options.metricsPrefix)
    this.#lines = new LineBudget({ clock, onDropped: () => this.metrics.lineDropped() })
    this.#tracing = options.tracing
    const traced = options.tracing ? [options.tracing.interceptor] : []
    const interceptors = () => [this.#gate(leaderElection), ...traced, this.metrics.interceptor]
    this.client = connect(interceptors())
    this.#leaseClient = leaderElection && connect(interceptors())
    this.caches = new Caches({ client: this.client, log, metrics: this.metrics, clock })
    const { client, metrics, identity } = this
    this.recorder = new EventRecorder({ client, clock, log, metrics, controller: name, instance: identity })
    this.#elector =
      leaderElection &&
      new LeaderElector({ ...leaderElection, identity }, { client: this.#leaseClient ?? client, clock, log })
    this.#registerGauges()
    this.#registerChecks()
  }

  /** Whether this process is the leader. Always true without leader election. */
  get isLeading(): boolean {
    return this.#elector?.isLeading ?? true
  }

  /** The address that the leader has published, as this process has last observed it while it does not lead. */
  get leaderAddress(): string | undefined {
    return this.#elector?.leaderAddress
  }

  /** Starts the definition of a controller; `reconcile` at the end of the chain completes it. */
  controller(name: string): ControllerBuilder {
    const { client, caches, clock, log, metrics } = this
    if (this.#queues.has(name)) throw new Error(`controller ${name} already exists`)
    const queue = new WorkQueue({ clock, backoff: this.#backoff })
    this.#queues.set(name, queue)
    const writes = new WriteLog(caches, clock)
    const deps = {
      name,
      queue,
      client,
      caches,
      clock,
      log,
      metrics,
      writes,
      lines: this.#lines,
      tracing: this.#tracing,
    }
    return new ControllerBuilder(deps, (controller) => this.#controllers.push(controller))
  }

  /** Resolves after the signal aborts. Rejects if leadership is lost or a cache fails. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = new AbortController()
    const onAbort = (): void => stop.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const caches = new AbortController()
    const closeServer = await this.#listen()
    try {
      const { synced, ended } = this.caches.start(caches.signal)
      // A watch never ends by itself, so an early end is a defect: shut down in order, then throw it.
      const failure = ended.then(() => undefined).catch((error: unknown) => (stop.abort(), { error }))
      await this.#runControllers(synced, stop.signal)
      caches.abort()
      const failed = await failure
      if (failed) throw failed.error
    } finally {
      caches.abort()
      signal.removeEventListener('abort', onAbort)
      await closeServer()
      await Promise.all([this.client.close(), this.#leaseClient?.close()])
    }
  }

  async #runControllers(synced: Promise<void>, signal: AbortSignal): Promise<void> {
    await Promise.race([synced, aborted(signal)])
    if (!signal.aborted) await this.#elector?.acquire(signal)
    if (!signal.aborted) await this.#lead(signal)
  }

  async #listen(): Promise<() => Promise<void>> {
    const { health, metrics } = this
    const server = this.#server && (await serve({ ...this.#server, health, metrics }))
    const stopLoopMonitor = metrics.monitorEventLoop()
    return async () => {
      stopLoopMonitor()
      await server?.close()
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    for (const controller of this.#controllers) controller.start()
    this.log.info({ controllers: this.#controllers.map(({ name }) => name) }, 'controllers started')
    const renewing = new AbortController()
    const holding = this.#elector?.hold(renewing.signal)
    const end = await Promise.race([holding ?? new Promise<never>(() => undefined), aborted(signal)])
    if (end === 'lost') return this.#abortControllers()
    const finished = await this.#stopControllers()
    renewing.abort()
    await holding
    if (finished) await this.#elector?.release()
  }

  async #abortControllers(): Promise<never> {
    const lost = new RuntimeError('NotLeading', 'lost the lease')
    for (const controller of this.#controllers) controller.abort(lost)
    await Promise.all(this.#controllers.map((controller) => controller.stop(0)))
    throw lost
  }

  async #stopControllers(): Promise<boolean> {
    const finished = await Promise.all(this.#controllers.map((controller) => controller.stop(this.#shutdownMs)))
    await within(this.clock, FLUSH_MS, this.recorder.flush())
    return finished.every(Boolean)
  }

  #gate(election: ManagerOptions['leaderElection']): Interceptor {
    const lease = election?.lease
    const isOurLease = ({ resource, namespace, name = lease?.name }: Call): boolean =>
      resource?.plural === 'leases' && namespace === lease?.namespace && name === lease?.name
    return writeGate({ mayWrite: () => this.isLeading, exempt: isOurLease })
  }

  #registerChecks(): void {
    this.health.addReadyCheck('caches', () => {
      const waiting = this.caches.unsynced()
      return waiting.length === 0 ? undefined : `waiting for ${waiting.join(', ')}`
    })
  }

  #registerGauges(): void {
    const { metrics } = this
    const queues = (read: (queue: WorkQueue) => number) => () =>
      [...this.#queues].map(([controller, queue]) => [{ controller }, read(queue)] as const)
    const labelNames = ['controller'] as const
    const depth = { name: 'workqueue_depth', help: 'Keys that wait for a worker', labelNames }
    const active = { name: 'workqueue_active', help: 'Keys being reconciled', labelNames }
    const leading = { name: 'leader_election_leading', help: '1 while this process leads', labelNames: [] as const }
    metrics.gauge(
      depth,
      queues((queue) => queue.depth),
    )
    metrics.gauge(
      active,
      queues((queue) => queue.active),
    )
    metrics.gauge(leading, () => [[{}, this.isLeading ? 1 : 0]])
  }
}

function aborted(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('stopped')
    signal.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
}
