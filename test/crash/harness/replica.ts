/** One replica of the operator. It is restarted whenever it has crashed or ended. */
import { type Call, intercepted, type Interceptor } from '../../../src/kube/interceptor.ts'
import type { Environment } from '../faults/environment.ts'
import { Freezer } from '../faults/freezer.ts'
import type { Pause } from '../faults/fault.ts'
import type { Launch, RunningOperator } from './operator-replicas.ts'
import type { FaultInjector } from '../faults/fault-injector.ts'

export interface ReplicaOptions {
  readonly launch: Launch
  readonly injector: FaultInjector
  readonly environment: Environment
  /** Called when the plan pauses this replica. The callee resumes it. */
  readonly onPause: (replica: Replica, mode: Pause) => void
  /** Called before a request that waited for the end of a pause is sent. */
  readonly onLate: (call: Call) => void
  /** Prefix of its identities in the leader election, if there is one. */
  readonly identity?: string
  readonly resyncMs?: number | undefined
}

export class Replica {
  readonly #options: ReplicaOptions
  #freezer = new Freezer()
  #running: RunningOperator
  #starts = 0
  #crashes = 0
  #stopped = false

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.#running = this.#start()
  }

  get crashes(): number {
    return this.#crashes
  }

  /** The current run. */
  get running(): RunningOperator {
    return this.#running
  }

  get isPaused(): boolean {
    return this.#freezer.isFrozen
  }

  resume(): void {
    this.#freezer.thaw()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#running.kill()
    this.resume()
    await this.#running.ended
  }

  #start(): RunningOperator {
    const { launch, injector, environment, onPause, onLate, identity, resyncMs } = this.#options
    const freezer = new Freezer(onLate)
    this.#freezer = freezer
    const faults = injector.interceptorFor({
      kill: () => {
        this.#crashes += 1
        running.kill()
      },
      pause: (mode) => {
        freezer.freeze()
        onPause(this, mode)
      },
    })
    this.#starts += 1
    const { interceptors, clock } = environment.of(this.#starts)
    const running: RunningOperator = launch(chained(faults, ...interceptors, freezer.interceptor), {
      clock: freezer.clock(clock),
      ...(resyncMs !== undefined && { resyncMs }),
      ...(identity !== undefined && { identity: `${identity}-${this.#starts}` }),
    })
    void running.ended.then(() => {
      if (!this.#stopped) this.#running = this.#start()
    })
    return running
  }
}

const chained =
  (...chain: readonly Interceptor[]): Interceptor =>
  (call, next) =>
    intercepted(chain, next)(call)
