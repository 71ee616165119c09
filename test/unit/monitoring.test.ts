/** Alerts and dashboards name only metrics and labels that exist, and every alert has a runbook. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { alerts } from '../../scripts/monitoring/alerts/all.ts'
import { type MetricEntry, operatorMetrics, routerCatalogue } from '../../scripts/monitoring/catalogue.ts'
import { dashboards } from '../../scripts/monitoring/dashboards/all.ts'
import { namesIn } from '../../scripts/monitoring/promql.ts'
import { runbookPath } from '../../scripts/monitoring/runbook.ts'
import { firedAlerts } from '../monitoring/fired-alerts.ts'
import { trainingDashboard } from '../../scripts/monitoring/dashboards/training.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Labels of the scraped targets, which our ServiceMonitor and PodMonitors set. */
const OF_TARGETS = ['namespace', 'pod', 'instance', 'job', 'service', 'container', 'endpoint']

const own = operatorMetrics()
const routers = routerCatalogue()

/** The labels of a series, or undefined if there is no such metric. */
function labelsOf(series: string): readonly string[] | undefined {
  for (const metrics of [own, routers]) {
    const metric = metrics.find((one) => seriesOf(one).includes(series))
    if (!metric) continue
    const added = { histogram: ['le'], summary: ['quantile'], counter: [], gauge: [] }[metric.type]
    return [...metric.labels, ...added, ...OF_TARGETS, ...(metrics === routers ? ['model'] : [])]
  }
  return undefined
}

function seriesOf({ name, type }: MetricEntry): string[] {
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`]
  return type === 'summary' ? [name, `${name}_sum`, `${name}_count`] : [name]
}

function problemsIn(query: string): string[] {
  const { metrics, grouping } = namesIn(query)
  const created = [...query.matchAll(/label_replace\([^"]+"(\w+)"/g)].map(([, label = '']) => label)
  const known = new Set([...metrics.flatMap(({ metric }) => labelsOf(metric) ?? []), ...created])
  return [
    ...(metrics.length === 0 ? ['no metric'] : []),
    ...metrics.flatMap(({ metric, labels }) => {
      const its = labelsOf(metric)
      if (!its) return [`unknown metric ${metric}`]
      return labels.filter((label) => !its.includes(label)).map((label) => `${metric} has no label ${label}`)
    }),
    ...grouping.filter((label) => !known.has(label)).map((label) => `no metric has the label ${label}`),
  ]
}

test('the check finds unknown metrics and labels', () => {
  assert.deepEqual(problemsIn('sum by (state) (trainingjob_state{name="x"})'), [])
  assert.deepEqual(problemsIn('rate(trainingjob_states[5m]) / time()'), ['unknown metric trainingjob_states'])
  assert.deepEqual(problemsIn('trainingjob_loss{name="x"} > 1'), ['trainingjob_loss has no label name'])
  assert.deepEqual(problemsIn('sum by (phase) (trainingjob_state)'), ['no metric has the label phase'])
  assert.deepEqual(problemsIn('training_job_duration_seconds'), ['unknown metric training_job_duration_seconds'])
  assert.deepEqual(problemsIn('vector(0)'), ['no metric'])
})

for (const { name, expr, summary } of alerts) {
  test(`${name} names existing metrics and labels`, () => {
    assert.deepEqual(problemsIn(expr), [])
    const { metrics, grouping } = namesIn(expr)
    const labels = new Set([...metrics.flatMap(({ metric }) => labelsOf(metric) ?? []), ...grouping])
    for (const [, label = ''] of summary.matchAll(/\$labels\.(\w+)/g)) assert.ok(labels.has(label), label)
  })
}

for (const { name, panels, namespacesOf } of dashboards) {
  test(`the dashboard ${name} names existing metrics and labels`, () => {
    for (const { title, queries } of panels)
      for (const { expr, legend = '' } of queries) {
        assert.deepEqual(problemsIn(expr), [], title)
        const { metrics, grouping } = namesIn(expr)
        const labels = new Set([...metrics.flatMap(({ metric }) => labelsOf(metric) ?? []), ...grouping])
        for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
          assert.ok(labels.has(label), `${title}: ${label}`)
      }
    if (namespacesOf !== undefined) assert.ok(labelsOf(namespacesOf)?.includes('namespace'))
  })
}

test('every alert has a name of its own and a runbook', () => {
  assert.equal(new Set(alerts.map(({ name }) => name)).size, alerts.length)
  for (const alert of alerts) assert.ok(existsSync(join(ROOT, runbookPath(alert))), alert.name)
})

test('a test with a real fault makes each alert fire', () => {
  const names = Object.values(firedAlerts).flat()
  assert.deepEqual(names.toSorted(), alerts.map(({ name }) => name).toSorted())
  for (const file of Object.keys(firedAlerts)) assert.ok(existsSync(join(ROOT, file)), file)
})

test('the dashboard of training has the six panels of its specification', () => {
  assert.deepEqual(
    trainingDashboard.panels.slice(0, 6).map(({ title, type }) => [title, type]),
    [
      ['TrainingJobs by State', 'piechart'],
      ['Active Training Jobs', 'timeseries'],
      ['GPU Utilization', 'gauge'],
      ['Training Progress', 'bargauge'],
      ['Job Duration', 'bargauge'],
      ['Failure Rate', 'stat'],
    ],
  )
})
