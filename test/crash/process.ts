import { intercepted, type Interceptor } from '../../src/kube/interceptor.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Saboteur } from './saboteur.ts'
import { showingThePast } from './time-machine.ts'

/** One run of the program under test, in this process. */
export interface Life {
  /** Resolves when nothing of it runs any more. Never rejects. */
  readonly ended: Promise<void>
  /** Drops everything at once. */
  kill(): void
  /** Whether its caches hold these objects, in these versions, and nothing else. */
  hasSeen(objects: readonly KubeObject[]): boolean
  /** How many reconciles have ended in this life. */
  passes(): Promise<number>
}

/** Starts the program. The interceptor sits closest to the wire. */
export type Launch = (interceptor: Interceptor) => Life

/** The program under test as a Deployment would run it: started again whenever it has died. */
export class RestartedProcess {
  readonly #launch: Launch
  readonly #saboteur: Saboteur
  readonly #lag: number | undefined
  #life: Life
  #deaths = 0
  #stopped = false

  /** With `lag`, a life after a death begins so many writes in the past. */
  constructor(launch: Launch, saboteur: Saboteur, lag?: number) {
    this.#launch = launch
    this.#saboteur = saboteur
    this.#lag = lag
    this.#life = this.#begin()
  }

  get deaths(): number {
    return this.#deaths
  }

  /** The life that runs now. */
  get current(): Life {
    return this.#life
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#life.kill()
    await this.#life.ended
  }

  #begin(): Life {
    const sabotage = this.#saboteur.life(() => this.#die(life))
    const past = this.#lag === undefined ? undefined : this.#saboteur.versions.at(-1 - this.#lag)
    const life: Life = this.#launch(past === undefined ? sabotage : both(sabotage, showingThePast(past)))
    return life
  }

  #die(life: Life): void {
    this.#deaths += 1
    life.kill()
    void life.ended.then(() => {
      if (!this.#stopped) this.#life = this.#begin()
    })
  }
}

const both =
  (...chain: readonly Interceptor[]): Interceptor =>
  (call, next) =>
    intercepted(chain, next)(call)
