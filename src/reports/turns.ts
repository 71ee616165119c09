/** A limited number of places, given in the order of requests. Who holds one can see whether others wait. */
export class Turns {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Resolves to the function that gives the place back; to undefined if the signal aborts before. */
  take(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    if (this.#taken < this.#max) return Promise.resolve(this.#place())
    return new Promise((resolve) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(this.#place())
      }
      const leave = (): void => {
        this.#waiting.delete(begin)
        resolve(undefined)
      }
      this.#waiting.add(begin)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #place(): () => void {
    this.#taken += 1
    return () => {
      this.#taken -= 1
      const [next] = this.#waiting
      if (!next) return
      this.#waiting.delete(next)
      next()
    }
  }
}
