/** Every metric that the operator and the routers export, as the code registers them. */

import { Counter, Gauge, Histogram, Summary } from 'prom-client'
import { ROUTER_LABELS, routerMetrics } from '../../src/agent/router/metrics-page.ts'
import type { Client } from '../../src/kube/client.ts'
import { addCertificateGauge, addProcessMetrics, METRICS_PREFIX } from '../../src/operator-metrics.ts'
import { addServingControllers } from '../../src/reconcile/serving.ts'
import { addTrainingController } from '../../src/reconcile/training.ts'
import { createLogger, Manager } from '../../src/runtime/index.ts'

export interface MetricEntry {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly labels: readonly string[]
  readonly help: string
}

/** Of the process: CPU, memory, event loop. Which of them exist depends on the platform. */
export const isOfProcess = ({ name }: MetricEntry): boolean => /^(process|nodejs)_/.test(name)

/** The metrics of the operator. Nothing runs and nothing is connected. */
export function operatorMetrics(): MetricEntry[] {
  const manager = new Manager({
    name: 'ml-operator',
    metricsPrefix: METRICS_PREFIX,
    connect: () => ({}) as Client,
    log: createLogger({ level: 'silent' }),
  })
  addTrainingController(manager)
  addServingControllers(manager, { readReports: () => Promise.resolve(new Map()) as never })
  addCertificateGauge(manager.metrics, () => undefined)
  manager.metrics.monitorEventLoop()()
  addProcessMetrics(manager.metrics.registry)
  return manager.metrics.registry.getMetricsAsArray().map(entryOf)
}

export function routerCatalogue(): MetricEntry[] {
  return routerMetrics.map(({ name, type, help }) => ({ name, type, help, labels: ROUTER_LABELS }))
}

type Registered = ReturnType<Manager['metrics']['registry']['getMetricsAsArray']>[number]

const types = [
  ['counter', Counter],
  ['gauge', Gauge],
  ['histogram', Histogram],
  ['summary', Summary],
] as const

function entryOf(metric: Registered): MetricEntry {
  // The library does not publish these fields in its types.
  const { name, help, labelNames } = metric as unknown as {
    readonly name: string
    readonly help: string
    readonly labelNames: readonly string[]
  }
  const type = types.find(([, kind]) => (metric as object) instanceof kind)?.[0]
  if (type === undefined) throw new Error(`${name} has an unknown type`)
  return { name, type, labels: labelNames, help }
}
