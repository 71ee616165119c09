/** Figures of models from Prometheus: builds the client and the reader of the configured server. */
import { MetricReader } from './integrations/prometheus/metric-reader.ts'
import { prometheusClient, type PrometheusConfig } from './integrations/prometheus/prometheus-client.ts'
import type { MetricSource } from './reconcile/gather-serving.ts'

export interface Metrics {
  /** For the serving controllers. Absent without a server. */
  readonly source?: MetricSource
  close(): Promise<void>
}

export async function startMetricReader(config: PrometheusConfig): Promise<Metrics> {
  if (config.url === '') return { close: () => Promise.resolve() }
  const client = await prometheusClient(config)
  const reader = new MetricReader({ client, timeoutMs: config.timeoutMs, refreshMs: config.refreshSeconds * 1000 })
  return {
    source: { reader, config },
    close: () => {
      reader.close()
      return client.close()
    },
  }
}
