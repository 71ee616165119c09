/** Retries of transient errors. */
import { sleep } from '../../kube/sleep.ts'
import { TransientError } from './error.ts'

export interface RetryPolicy {
  /** The delays after consecutive failures; after the last one, a failure is final. */
  readonly waitsMs: readonly number[]
  /** A connection without data for this time counts as broken. */
  readonly stallMs: number
}

export const defaultRetryPolicy: RetryPolicy = { waitsMs: [500, 1_000, 2_000, 4_000, 8_000, 15_000], stallMs: 30_000 }

/** Counts consecutive failures. */
export class Attempts {
  readonly #retryPolicy: RetryPolicy
  readonly #signal: AbortSignal
  #failures = 0

  constructor(retryPolicy: RetryPolicy, signal: AbortSignal) {
    this.#retryPolicy = retryPolicy
    this.#signal = signal
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** Resolves when it is time to retry. Throws the error if it is not transient or the attempts are used up. */
  async failed(error: unknown): Promise<void> {
    this.#signal.throwIfAborted()
    const wait = this.#retryPolicy.waitsMs[this.#failures]
    if (!(error instanceof TransientError) || wait === undefined) throw error
    this.#failures++
    await sleep(wait * (0.75 + Math.random() / 2), this.#signal)
  }
}

export async function retrying<T>(retryPolicy: RetryPolicy, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  const attempts = new Attempts(retryPolicy, signal)
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      await attempts.failed(error)
    }
  }
}
