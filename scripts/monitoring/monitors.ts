/** ServiceMonitor and PodMonitors of the Prometheus operator. */

import type { KubeObject } from '../../src/kube/object.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { ROLE_LABEL as TRAINING_ROLE_LABEL } from '../../src/plan/training/index.ts'
import { NAME, NAMESPACE } from '../install/roles.ts'

const API = 'monitoring.coreos.com/v1'
const INTERVAL = '30s'

export const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/part-of': NAME }

/** The operator. Its metrics have the namespace of jobs and models, which that of the target must not replace. */
export function serviceMonitor(): KubeObject {
  return {
    apiVersion: API,
    kind: 'ServiceMonitor',
    metadata: { name: NAME, namespace: NAMESPACE, labels },
    spec: {
      selector: { matchLabels: { 'app.kubernetes.io/name': NAME } },
      endpoints: [{ port: 'http', path: '/metrics', interval: INTERVAL, honorLabels: true }],
    },
  } as KubeObject
}

/** Pods of models and jobs, in all namespaces. */
export interface PodMonitorSpec {
  readonly name: string
  /** The switch in the values of the chart; the others are always on. */
  readonly value?: string
  readonly why: string
  readonly object: KubeObject
}

const MODEL = { action: 'replace', sourceLabels: ['__meta_kubernetes_pod_label_app'], targetLabel: 'model' }

const VERSION = {
  action: 'replace',
  sourceLabels: [`__meta_kubernetes_pod_label_${VERSION_LABEL.replaceAll(/[^a-z]/g, '_')}`],
  targetLabel: 'version',
}

export const podMonitors: readonly PodMonitorSpec[] = [
  {
    name: 'routers',
    why: 'Routers of models: requests, errors and latency by version.',
    object: podMonitor('routers', { [ROLE_LABEL]: 'router' }, { port: 'report', relabelings: [MODEL] }),
  },
  {
    name: 'models',
    value: 'modelServers',
    why: 'Model servers that serve /metrics on their request port.',
    object: podMonitor('models', { [ROLE_LABEL]: 'server' }, { port: 'http', relabelings: [MODEL, VERSION] }),
  },
  {
    name: 'trainers',
    value: 'trainers',
    why: 'Workers of jobs that serve /metrics, on the port that their annotation names.',
    object: podMonitor('trainers', {}, { relabelings: annotatedPort() }, [
      { key: TRAINING_ROLE_LABEL, operator: 'Exists' },
    ]),
  },
]

function podMonitor(
  name: string,
  matchLabels: Readonly<Record<string, string>>,
  endpoint: object,
  matchExpressions?: readonly object[],
): KubeObject {
  return {
    apiVersion: API,
    kind: 'PodMonitor',
    metadata: { name: `${NAME}-${name}`, namespace: NAMESPACE, labels },
    spec: {
      namespaceSelector: { any: true },
      selector: matchExpressions ? { matchExpressions } : { matchLabels },
      podMetricsEndpoints: [{ path: '/metrics', interval: INTERVAL, ...endpoint }],
    },
  } as KubeObject
}

/** One target for each pod: without the labels of its containers, their targets are the same. */
function annotatedPort(): object[] {
  const annotation = (name: string): string => `__meta_kubernetes_pod_annotation_prometheus_io_${name}`
  return [
    { action: 'keep', sourceLabels: [annotation('scrape')], regex: 'true' },
    {
      action: 'replace',
      sourceLabels: ['__meta_kubernetes_pod_ip', annotation('port')],
      separator: ':',
      targetLabel: '__address__',
    },
    { action: 'replace', sourceLabels: ['__meta_kubernetes_pod_label_trainingjob'], targetLabel: 'trainingjob' },
    { action: 'labeldrop', regex: 'container|endpoint' },
  ]
}
