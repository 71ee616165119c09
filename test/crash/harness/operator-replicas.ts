/** The operator under test as a Deployment runs it: one replica, or several that elect a leader. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Call, Interceptor } from '../../../src/kube/interceptor.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import type { Clock } from '../../../src/runtime/clock.ts'
import type { Pause } from '../faults/fault.ts'
import { Replica } from './replica.ts'
import type { FaultInjector } from '../faults/fault-injector.ts'
import type { Environment } from '../faults/environment.ts'

/** One run of the operator under test, in this process. */
export interface RunningOperator {
  /** Resolves when it has stopped completely. Never rejects. */
  readonly ended: Promise<void>
  /** Aborts everything at once, as a crash does. */
  kill(): void
  /** Whether it may write now. Always true without leader election. */
  isLeading(): boolean
  /** Whether its caches hold exactly these objects, in these resourceVersions. */
  hasSeen(objects: readonly KubeObject[]): boolean
  /** How many reconciles have ended. */
  passes(): Promise<number>
}

export interface LaunchOptions {
  readonly clock?: Clock
  /** Identity in the leader election. Default: no leader election. */
  readonly identity?: string
  /** How often every object is reconciled without a change. */
  readonly resyncMs?: number
}

/** Starts the operator. The interceptor is the one closest to the wire. */
export type Launch = (interceptor: Interceptor, options?: LaunchOptions) => RunningOperator

export interface ReplicasOptions {
  readonly launch: Launch
  readonly injector: FaultInjector
  readonly environment: Environment
  readonly replicas?: number | undefined
  readonly resyncMs?: number | undefined
  /** Called before a request that waited for the end of a pause is sent. */
  readonly onLate: (call: Call) => void
  /** Expires the lease of a paused leader, which still believes that it leads: a lease is not a lock. */
  readonly expireLease: () => Promise<unknown>
}

/** Passes of the new leader before a paused leader resumes: enough to do all pending work. */
const PASSES = 2
const POLL_MS = 20

export class OperatorReplicas {
  readonly #replicas: readonly Replica[]
  #stopped = false
  /** Paused until the scenario has ended. */
  readonly #longPaused = new Set<Replica>()

  constructor({ replicas, expireLease, ...options }: ReplicasOptions) {
    const onPause = (replica: Replica, mode: Pause): void => {
      // Otherwise it expires by itself, later.
      void expireLease().catch(() => undefined)
      if (mode === 'long pause') this.#longPaused.add(replica)
      else void this.#resumeAfterTakeover(replica)
    }
    const common = { ...options, onPause }
    this.#replicas =
      replicas === undefined
        ? [new Replica(common)]
        : Array.from({ length: replicas }, (_, index) => new Replica({ ...common, identity: `replica-${index}` }))
  }

  get crashes(): number {
    return this.#replicas.reduce((sum, { crashes }) => sum + crashes, 0)
  }

  /** The replica that leads now, if any. */
  get current(): RunningOperator | undefined {
    return this.#replicas.filter(({ isPaused }) => !isPaused).find(({ running }) => running.isLeading())?.running
  }

  /** Resumes the replicas that were paused until the end of the scenario. */
  resumePaused(): void {
    for (const replica of this.#longPaused) replica.resume()
    this.#longPaused.clear()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#replicas.map((replica) => replica.stop()))
  }

  async #resumeAfterTakeover(replica: Replica): Promise<void> {
    while (!this.#stopped && ((await this.current?.passes()) ?? 0) < PASSES) await delay(POLL_MS)
    replica.resume()
  }
}
