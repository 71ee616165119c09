import { Counter, Histogram, Registry } from 'prom-client'
import { type GaugeDescription, LazyGauge, type ReadSamples } from './lazy-gauge.ts'

/** Metrics in a registry of their own, with one prefix for all names. */
export class PrefixedMetrics {
  readonly registry = new Registry()
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name: this.#prefix + name, help, labelNames, registers: [this.registry] })
  }

  histogram<L extends string>(
    name: string,
    help: string,
    { labelNames, buckets }: { readonly labelNames: L[]; readonly buckets: readonly number[] },
  ): Histogram<L> {
    return new Histogram({
      name: this.#prefix + name,
      help,
      labelNames,
      buckets: [...buckets],
      registers: [this.registry],
    })
  }

  /** Registers a gauge whose values are read at each scrape. */
  gauge<L extends string>(description: GaugeDescription<L>, read: ReadSamples<L>): void {
    void new LazyGauge({ ...description, name: this.#prefix + description.name }, read, this.registry)
  }
}
