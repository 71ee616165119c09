/** Trying again what may go well the next time. */
import { sleep } from '../../kube/sleep.ts'
import { TransientError } from './error.ts'

export interface Patience {
  /** How long to wait after each failure in a row; when they are used up, the failure is final. */
  readonly waitsMs: readonly number[]
  /** A connection that is silent for so long counts as broken. */
  readonly stallMs: number
}

export const defaultPatience: Patience = { waitsMs: [500, 1_000, 2_000, 4_000, 8_000, 15_000], stallMs: 30_000 }

/** Counts failures in a row. */
export class Attempts {
  readonly #patience: Patience
  readonly #signal: AbortSignal
  #failures = 0

  constructor(patience: Patience, signal: AbortSignal) {
    this.#patience = patience
    this.#signal = signal
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** Returns when it is time for another try; throws the error when it is none that passes, or one too many. */
  async failed(error: unknown): Promise<void> {
    this.#signal.throwIfAborted()
    const wait = this.#patience.waitsMs[this.#failures]
    if (!(error instanceof TransientError) || wait === undefined) throw error
    this.#failures++
    await sleep(wait * (0.75 + Math.random() / 2), this.#signal)
  }
}

export async function retrying<T>(patience: Patience, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  const attempts = new Attempts(patience, signal)
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      await attempts.failed(error)
    }
  }
}
