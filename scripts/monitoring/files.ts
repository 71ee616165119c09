/** The generated files of the monitoring kit: for kustomize, for the chart, and the runbooks. */

import { stringify } from 'yaml'
import type { KubeObject } from '../../src/kube/object.ts'
import { NAME, NAMESPACE } from '../install/roles.ts'
import { alertGroups, alerts } from './alerts/all.ts'
import { type Dashboard, dashboardJson } from './dashboard.ts'
import { dashboards } from './dashboards/all.ts'
import { labels, podMonitors, serviceMonitor } from './monitors.ts'
import { runbook, runbookPath } from './runbook.ts'

const NOTE = 'Generated from scripts/monitoring by scripts/generate.ts. Do not edit.'
const KUSTOMIZE = 'config/monitoring'
const CHART = 'charts/ml-operator/generated/monitoring'
const STYLE = { lineWidth: 0, aliasDuplicateObjects: false } as const

/** Folders with generated files only. */
export const MONITORING_FOLDERS = [KUSTOMIZE, CHART, `${CHART}/dashboards`, 'docs/runbooks'] as const

/** Path from the root of the repository → content. */
export function monitoringFiles(): [string, string][] {
  return [...kustomizeFiles(), ...chartFiles(), ...runbooks()]
}

function kustomizeFiles(): [string, string][] {
  const objects: [string, readonly KubeObject[]][] = [
    ['servicemonitor.yaml', [serviceMonitor()]],
    ...podMonitors.map(({ name, object }): [string, KubeObject[]] => [`podmonitor-${name}.yaml`, [object]]),
    ['prometheusrule.yaml', [prometheusRule()]],
    ['dashboards.yaml', dashboards.map(configMap)],
  ]
  const optional = new Set(
    podMonitors.filter(({ value }) => value !== undefined).map(({ name }) => `podmonitor-${name}.yaml`),
  )
  const resources = objects.map(([name]) => name).filter((name) => !optional.has(name))
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources }
  return [
    ...objects.map(([name, list]): [string, string] => [`${KUSTOMIZE}/${name}`, yaml(...list)]),
    [`${KUSTOMIZE}/Kustomization`, yaml(kustomization)],
  ]
}

function chartFiles(): [string, string][] {
  return [
    [`${CHART}/rules.yaml`, yaml(ruleGroups())],
    [`${CHART}/monitors.yaml`, yaml({ service: specOf(serviceMonitor()), pods: podMonitors.map(chartMonitor) })],
    ...dashboards.map((one): [string, string] => [`${CHART}/dashboards/${one.name}.json`, dashboardJson(one)]),
  ]
}

const specOf = (object: KubeObject): unknown => (object as KubeObject & { readonly spec: unknown }).spec

const chartMonitor = ({ name, value, object }: (typeof podMonitors)[number]): object => ({
  name,
  ...(value !== undefined && { value }),
  spec: specOf(object),
})

function runbooks(): [string, string][] {
  return alerts.map((alert) => [runbookPath(alert), `<!-- ${NOTE} -->\n\n${runbook(alert)}`])
}

export function ruleGroups(): { readonly groups: readonly object[] } {
  const groups = Object.entries(alertGroups).map(([name, list]) => ({
    name,
    rules: list.map((alert) => ({
      alert: alert.name,
      expr: alert.expr,
      for: alert.for,
      labels: { severity: alert.severity },
      annotations: { summary: alert.summary, description: alert.meaning, runbook: runbookPath(alert) },
    })),
  }))
  return { groups }
}

function prometheusRule(): KubeObject {
  const metadata = { name: NAME, namespace: NAMESPACE, labels }
  return { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata, spec: ruleGroups() } as KubeObject
}

function configMap(dashboard: Dashboard): KubeObject {
  const { name } = dashboard
  const metadata = { name, namespace: NAMESPACE, labels: { ...labels, grafana_dashboard: '1' } }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { [`${name}.json`]: dashboardJson(dashboard) },
  } as KubeObject
}

function yaml(...objects: readonly object[]): string {
  return `# ${NOTE}\n${objects.map((object) => stringify(object, STYLE)).join('---\n')}`
}
