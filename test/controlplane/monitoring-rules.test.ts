/** Alerts and dashboards as the real Prometheus reads them, without an operator. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { alerts } from '../../scripts/monitoring/alerts/all.ts'
import { dashboards } from '../../scripts/monitoring/dashboards/all.ts'
import { ruleGroups } from '../../scripts/monitoring/files.ts'
import { runCommand } from '../../testenv/command.ts'
import { missingForPrometheus, providePrometheus } from '../../testenv/prometheus.ts'
import { firing, healthy, seriesFor, type Series } from '../monitoring/alert-series.ts'
import { withValues } from '../monitoring/variables.ts'

const missing = missingForPrometheus()
const skip = missing.length > 0 && `Prometheus needs ${missing.join(', ')}`
const directory = await mkdtemp(join(tmpdir(), 'ml-operator-rules-'))
after(() => rm(directory, { recursive: true }))

/** JSON is YAML. */
async function file(name: string, content: unknown): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, JSON.stringify(content))
  return path
}

async function promtool(...args: string[]): Promise<string> {
  return runCommand([(await providePrometheus()).promtool, ...args])
}

const EVALUATED_AT = '175m'

const rulesTest = (series: readonly Series[], expr: string, expected: readonly object[]) => ({
  interval: '1m',
  input_series: series,
  promql_expr_test: [{ expr, eval_time: EVALUATED_AT, exp_samples: expected }],
})

test('the rules are valid', { skip }, async () => {
  assert.match(
    await promtool('check', 'rules', await file('rules.yaml', ruleGroups())),
    new RegExp(`${alerts.length} rules`),
  )
})

test('the queries of all dashboards are valid', { skip }, async () => {
  const queries = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries))
  const rules = queries.map(({ expr }, index) => ({ record: `query_${index}`, expr: withValues(expr) }))
  const groups = { groups: [{ name: 'dashboards', rules }] }
  assert.match(
    await promtool('check', 'rules', await file('dashboards.yaml', groups)),
    new RegExp(`${rules.length} rules`),
  )
})

test('each alert fires in its case, after its time', { skip }, async () => {
  assert.deepEqual(Object.keys(firing).toSorted(), alerts.map(({ name }) => name).toSorted())
  const tests = alerts.map(({ name }) =>
    rulesTest(seriesFor(name), `count(ALERTS{alertname="${name}",alertstate="firing"})`, [{ labels: '{}', value: 1 }]),
  )
  const rules = await file('rules.yaml', ruleGroups())
  await promtool('test', 'rules', await file('firing.yaml', { rule_files: [rules], evaluation_interval: '5m', tests }))
})

test('no alert fires in a healthy cluster', { skip }, async () => {
  const rules = await file('rules.yaml', ruleGroups())
  const tests = [rulesTest(healthy, 'ALERTS', [])]
  await promtool('test', 'rules', await file('quiet.yaml', { rule_files: [rules], evaluation_interval: '5m', tests }))
})
