/** The metrics of the process `ml-operator operator`, besides those of the runtime and of the objects. */
import { collectDefaultMetrics, type Registry } from 'prom-client'
import type { RuntimeMetrics } from './runtime/index.ts'

/** Of the runtime's metrics. Metrics of objects have names of their own, those of the process the usual ones. */
export const METRICS_PREFIX = 'ml_operator_'

/**
 * CPU, memory, file descriptors, garbage collection and event loop, with the names that dashboards for Node expect. They
 * observe the whole process and cannot be stopped, so only the command registers them, and not the manager.
 */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
}

export function addCertificateGauge(metrics: RuntimeMetrics, expiresAt: () => number | undefined): void {
  const help = 'Expiry of the certificate of the webhook, in seconds since the epoch'
  metrics.gauge({ name: 'webhook_certificate_expiry_seconds', help, labelNames: [] }, () => {
    const ms = expiresAt()
    return ms === undefined ? [] : [[{}, ms / 1_000]]
  })
}
