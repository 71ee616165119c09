import { keyString, type ObjectKey } from '../kube/object.ts'
import type { Clock } from './clock.ts'
import { TokenBuckets } from './token-buckets.ts'

export interface LineBudgetOptions {
  readonly clock: Clock
  /** Called for each line that is left out. */
  readonly onDropped?: () => void
  /** Lines of one object that may follow each other at once. One more is allowed each second. */
  readonly linesPerObject?: number
  /** Lines of all objects in a second. */
  readonly linesPerSecond?: number
}

const ALL = 'all'
const MAX_COUNTED = 10_000

/**
 * Limits the lines that reconciles log, per object and in total, so that a storm cannot fill a disk. The next line of the
 * object says how many were left out before it. Memory is bounded: beyond `MAX_COUNTED` objects, the counts of the longest
 * waiting ones are forgotten; the metric has counted them.
 */
export class LineBudget {
  readonly #objects: TokenBuckets
  readonly #total: TokenBuckets
  readonly #dropped = new Map<string, number>()
  readonly #onDropped: () => void

  constructor({ clock, onDropped, linesPerObject = 10, linesPerSecond = 200 }: LineBudgetOptions) {
    this.#objects = new TokenBuckets({ burst: linesPerObject, refillMs: 1_000, clock })
    this.#total = new TokenBuckets({ burst: linesPerSecond, refillMs: 1_000 / linesPerSecond, clock })
    this.#onDropped = onDropped ?? (() => undefined)
  }

  /** Fields to add to the line, or undefined if the line must be left out. */
  take(controller: string, key: ObjectKey): { readonly dropped?: number } | undefined {
    const id = `${controller} ${keyString(key)}`
    const dropped = this.#dropped.get(id) ?? 0
    this.#dropped.delete(id)
    if (this.#objects.take(id) && this.#total.take(ALL)) return dropped === 0 ? {} : { dropped }
    this.#count(id, dropped + 1)
    return undefined
  }

  #count(id: string, dropped: number): void {
    this.#onDropped()
    this.#dropped.set(id, dropped)
    const [oldest] = this.#dropped.keys()
    if (this.#dropped.size > MAX_COUNTED && oldest !== undefined) this.#dropped.delete(oldest)
  }
}
