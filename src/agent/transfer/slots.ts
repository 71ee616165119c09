/** Bounded parallelism. */

/** Runs at most `count` functions at the same time. Others wait in order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    else this.#free--
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

/**
 * Runs `work` on every item in order, at most `count` at the same time. The first failure aborts the signal of the others.
 * It is thrown after all have ended, so that nothing writes any more.
 */
export async function forEach<T>(
  items: readonly T[],
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const failures: unknown[] = []
  const queue = items.values()
  const lane = async (): Promise<void> => {
    for (const item of queue) {
      if (either.aborted) return
      try {
        await work(item, either)
      } catch (error) {
        failures.push(error)
        failed.abort(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, lane))
  signal.throwIfAborted()
  if (failures.length > 0) throw failures[0]
}
