import type { Clock } from './clock.ts'

export interface TokenBucketsOptions {
  /** The capacity of a bucket. */
  readonly burst: number
  /** The time after which a bucket gets one more token. */
  readonly refillMs: number
  readonly clock: Clock
}

interface Bucket {
  tokens: number
  at: number
}

const SWEEP_SIZE = 1_000

/** A rate limit per key. Full buckets are forgotten, so that memory depends on recent use only. */
export class TokenBuckets {
  readonly #options: TokenBucketsOptions
  readonly #buckets = new Map<string, Bucket>()
  #sweepAt = SWEEP_SIZE

  constructor(options: TokenBucketsOptions) {
    this.#options = options
  }

  /** Takes a token of the key. False if it has none. */
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
