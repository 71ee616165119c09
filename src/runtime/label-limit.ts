/**
 * Limits the number of values of a label. A counter keeps its series until the process ends, also if the namespace that
 * it names is long gone, so names that users choose must not become labels without a limit.
 */
export const OTHER = '_other'

const MAX_VALUES = 1_000

export class LabelLimit {
  readonly #known = new Set<string>()
  readonly #max: number

  constructor(max = MAX_VALUES) {
    this.#max = max
  }

  /** The value itself for the first values, then `_other`, which is no valid name of a namespace. */
  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#max) return OTHER
    this.#known.add(value)
    return value
  }
}
