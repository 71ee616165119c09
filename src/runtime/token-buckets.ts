import type { Clock } from './clock.ts'

export interface TokenBucketsOptions {
  /** How many at once. */
  readonly burst: number
  /** How long until one more. */
  readonly refillMs: number
  readonly clock: Clock
}

interface Bucket {
  tokens: number
  at: number
}

const SWEEP_SIZE = 1_000

/** A rate limit per key. A bucket that has filled up again is forgotten, so memory follows recent use only. */
export class TokenBuckets {
  readonly #options: TokenBucketsOptions
  readonly #buckets = new Map<string, Bucket>()
  #sweepAt = SWEEP_SIZE

  constructor(options: TokenBucketsOptions) {
    this.#options = options
  }

  /** Whether the key may go ahead now; if so, that costs it one token. */
  take(key: string): boolean {
    const tokens = this.#tokens(this.#buckets.get(key))
    const granted = tokens >= 1
    this.#buckets.set(key, { tokens: granted ? tokens - 1 : tokens, at: this.#options.clock.monotonic() })
    this.#sweep()
    return granted
  }

  #tokens(bucket: Bucket | undefined): number {
    const { burst, refillMs, clock } = this.#options
    return bucket ? Math.min(burst, bucket.tokens + (clock.monotonic() - bucket.at) / refillMs) : burst
  }

  #sweep(): void {
    if (this.#buckets.size < this.#sweepAt) return
    for (const [key, bucket] of this.#buckets) {
      if (this.#tokens(bucket) >= this.#options.burst) this.#buckets.delete(key)
    }
    this.#sweepAt = Math.max(SWEEP_SIZE, this.#buckets.size * 2)
  }
}
