/** A gauge whose samples are read at each scrape, so that a series ends with what it describes. */
import { Gauge, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'

export interface GaugeDescription<L extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly L[]
}

export type ReadSamples<L extends string> = () => Iterable<readonly [Readonly<Record<L, string>>, number]>

export class LazyGauge<L extends string> extends Gauge<L> {
  readonly #read: ReadSamples<L>

  constructor(description: GaugeDescription<L>, read: ReadSamples<L>, registry: Registry) {
    super({ ...description, labelNames: [...description.labelNames], registers: [registry] })
    this.#read = read
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<L>>> {
    const values = Array.from(this.#read(), ([labels, value]) => ({ labels, value }))
    return { ...(await super.get()), values }
  }
}
