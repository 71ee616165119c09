/**
 * Gauges about single objects, read from a cache at each scrape: their series end with the object.
 *
 * - Only the leader exports them. Every replica has the same caches, so sums over the replicas would be too large.
 * - At most `maxObjects` objects are exported, those at work first. A gauge says how many are left out.
 */
import type { Registry } from 'prom-client'
import type { KubeObject } from '../kube/object.ts'
import { type GaugeDescription, LazyGauge } from '../runtime/index.ts'

export const DEFAULT_MAX_OBJECTS = 10_000

export interface ObjectGaugesOptions<T> {
  readonly registry: Registry
  readonly list: () => Iterable<T>
  readonly isLeading: () => boolean
  /** Whether the object is at work: exported before the others. */
  readonly isActive: (object: T) => boolean
  readonly maxObjects?: number | undefined
}

/** The labels of a sample besides the namespace, and its value. */
export type Sample<L extends string> = readonly [Readonly<Record<L, string>>, number]

/** A value that the object does not have has no sample. */
export function sampleOf<L extends string>(
  labels: Readonly<Record<L, string>>,
  value: number | undefined,
): Sample<L>[] {
  return value === undefined ? [] : [[labels, value]]
}

export class ObjectGauges<T extends KubeObject> {
  readonly #options: ObjectGaugesOptions<T>

  constructor(options: ObjectGaugesOptions<T>) {
    this.#options = options
  }

  /** Registers a gauge with the label `namespace` and those of the samples. */
  add<L extends string>(description: GaugeDescription<L>, read: (object: T) => readonly Sample<L>[]): void {
    const labelNames = ['namespace', ...description.labelNames] as const
    void new LazyGauge<L | 'namespace'>(
      { ...description, labelNames },
      () => this.#samples(read),
      this.#options.registry,
    )
  }

  /** Registers the number of objects that are left out. */
  addOmitted(name: string, help: string): void {
    const read = () => [[{}, Math.max(0, count(this.#objects()) - this.#max)]] as const
    void new LazyGauge({ name, help, labelNames: [] }, read, this.#options.registry)
  }

  *#samples<L extends string>(
    read: (object: T) => readonly Sample<L>[],
  ): Generator<readonly [Record<L | 'namespace', string>, number]> {
    for (const object of this.#exported()) {
      const { namespace = '' } = object.metadata
      for (const [labels, value] of read(object)) yield [{ namespace, ...labels }, value]
    }
  }

  *#exported(): Generator<T> {
    let left = this.#max
    for (const isActive of [true, false])
      for (const object of this.#objects()) {
        if (this.#options.isActive(object) !== isActive) continue
        if (left-- <= 0) return
        yield object
      }
  }

  #objects(): Iterable<T> {
    return this.#options.isLeading() ? this.#options.list() : []
  }

  get #max(): number {
    return this.#options.maxObjects ?? DEFAULT_MAX_OBJECTS
  }
}

function count(objects: Iterable<unknown>): number {
  let sum = 0
  for (const _ of objects) sum += 1
  return sum
}
