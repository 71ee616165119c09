import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultMlflowConfig } from './integrations/mlflow/mlflow-client.ts'
import { defaultPrometheusConfig } from './integrations/prometheus/prometheus-client.ts'
import { operatorConfig } from './operator-config.ts'
import { defaultServingConfig } from './plan/serving/index.ts'
import { defaultTrainingConfig } from './plan/training/index.ts'

test('omitted settings keep their defaults', () => {
  assert.deepEqual(operatorConfig({}), {
    training: defaultTrainingConfig,
    serving: defaultServingConfig,
    mlflow: defaultMlflowConfig,
    prometheus: defaultPrometheusConfig,
  })
  const { training } = operatorConfig({ training: { backoffMs: 5, gpuNodeSelector: {} } })
  assert.deepEqual(training, { ...defaultTrainingConfig, backoffMs: 5, gpuNodeSelector: {} })
  const { serving } = operatorConfig({ serving: { drainSeconds: 5 } })
  assert.deepEqual(serving, { ...defaultServingConfig, drainSeconds: 5 })
})

test('users are IDs other than root, or left to the cluster', () => {
  const { training, serving } = operatorConfig({ training: { user: 'cluster' }, serving: { user: 2000 } })
  assert.deepEqual([training.user, serving.user], ['cluster', 2000])
  for (const section of ['training', 'serving'])
    for (const user of [0, -1, 1.5, 'root', '1000', null, true])
      assert.throws(
        () => operatorConfig({ [section]: { user } }),
        new RegExp(`${section}\\.user must be a user ID greater than 0, or cluster`),
      )
})

test('rejects invalid rules for host names', () => {
  const rule = (one: unknown) => operatorConfig({ serving: { allowedHostnames: [one] } })
  assert.deepEqual(rule({ namespaces: ['a'], hostnames: ['*.a.example.com'] }).serving.allowedHostnames.length, 1)
  assert.throws(() => rule('a'), /allowedHostnames\[0\] must be a map/)
  assert.throws(
    () => rule({ namespace: ['a'], hostnames: [] }),
    /unknown setting serving.allowedHostnames\[0\].namespace/,
  )
  assert.throws(() => rule({ namespaces: 'a', hostnames: [] }), /namespaces must be of type list/)
  assert.throws(() => rule({ namespaces: [1], hostnames: [] }), /each a list of strings/)
  assert.throws(() => operatorConfig({ serving: { istioExportTo: [1] } }), /istioExportTo must be a list of strings/)
})

test('rejects invalid rules for gateways', () => {
  const rule = (one: unknown) => operatorConfig({ serving: { allowedGateways: [one] } })
  assert.deepEqual(rule({ namespaces: ['a'], gateways: ['infra/*'] }).serving.allowedGateways.length, 1)
  assert.throws(
    () => rule({ namespaces: ['a'], hostnames: [] }),
    /unknown setting serving.allowedGateways\[0\].hostnames/,
  )
  assert.throws(() => rule({ namespaces: ['a'], gateways: [1] }), /namespaces and gateways, each a list of strings/)
})

test('rejects unknown settings by name', () => {
  assert.throws(() => operatorConfig({ trainign: {} }), /unknown setting trainign/)
  assert.throws(() => operatorConfig({ training: { backofMs: 5 } }), /unknown setting training\.backofMs/)
  assert.throws(() => operatorConfig({ training: { backoffMs: '5 s' } }), /training\.backoffMs must be of type number/)
  assert.throws(() => operatorConfig({ training: { gpuTolerations: {} } }), /must be of type list/)
  assert.throws(() => operatorConfig({ serving: { routerImage: 3 } }), /serving\.routerImage must be of type string/)
  assert.throws(() => operatorConfig({ serving: null }), /serving must be of type object/)
  assert.throws(() => operatorConfig([]), /the file must be a map/)
})

test('settings of a runtime that does not exist are rejected by name', () => {
  const runtimes = { caffe: { image: 'example.com/caffe:1' } }
  assert.throws(() => operatorConfig({ serving: { runtimes } }), /serving\.runtimes\.caffe: there is no such built-in/)
})

test('the URL of MLflow has no credentials and is an HTTP URL', () => {
  assert.equal(operatorConfig({ mlflow: { url: 'https://m.example.com/x' } }).mlflow.url, 'https://m.example.com/x')
  for (const url of ['m.example.com', 'file:///etc', 'https://u:p@m.example.com', 'https://m.example.com/?a=b', 'x y'])
    assert.throws(
      () => operatorConfig({ mlflow: { url } }),
      /mlflow\.url must be an http or https URL without credentials/,
    )
  assert.throws(() => operatorConfig({ mlflow: { token: 'secret' } }), /unknown setting mlflow\.token/)
})

test('settings of Prometheus are checked', () => {
  const { prometheus } = operatorConfig({
    prometheus: { url: 'https://p.example.com/x', labels: { cluster: 'a "b"' } },
  })
  assert.equal(prometheus.url, 'https://p.example.com/x')
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ url: 'p.example.com' }, /prometheus\.url must be an http or https URL/],
    [{ url: 'https://u:p@p.example.com' }, /without credentials/],
    [{ url: 'https://p.example.com/?q=1' }, /without credentials and query/],
    [{ labels: { 'a-b': 'c' } }, /prometheus\.labels must be a map/],
    [{ labels: { a: 'b\nc' } }, /prometheus\.labels must be a map/],
    [{ labels: { a: 1 } }, /prometheus\.labels must be a map/],
    [{ namespaceLabel: 'a b' }, /prometheus\.namespaceLabel/],
    [{ namespaceLabel: '' }, /prometheus\.namespaceLabel/],
    [{ rateSeconds: 0 }, /whole numbers greater than 0/],
    [{ timeoutMs: 1.5 }, /whole numbers greater than 0/],
    [{ password: 'x' }, /unknown setting prometheus\.password/],
  ]
  for (const [settings, problem] of wrong) assert.throws(() => operatorConfig({ prometheus: settings }), problem)
})

test('queries of an administrator are checked: complete, understood, and restricted to a namespace', () => {
  const { serverQueries } = defaultServingConfig
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ requests: 'sum(up)' }, /serverQueries must have exactly the texts scopeLabel, scopeValue, requests/],
    [{ ...serverQueries, more: '' }, /must have exactly the texts/],
    [{ ...serverQueries, errors: 5 }, /must have exactly the texts/],
    [{ ...serverQueries, scopeLabel: 'a b' }, /serverQueries\.scopeLabel must be the name of a label/],
    [{ ...serverQueries, scopeValue: 'all' }, /serverQueries\.scopeValue must contain \{namespace\}/],
    [{ ...serverQueries, requests: 'sum(up' }, /serverQueries\.requests ends too early/],
    [{ ...serverQueries, requests: 'up{a="{team}"}' }, /serverQueries\.requests has the unknown placeholder \{team\}/],
  ]
  for (const [given, problem] of wrong)
    assert.throws(() => operatorConfig({ serving: { serverQueries: given } }), problem)
  for (const name of ['istioQueries', 'gatewayQueries'])
    assert.throws(() => operatorConfig({ serving: { [name]: {} } }), new RegExp(`serving\\.${name} must have exactly`))
  assert.ok(operatorConfig({ serving: { gatewayQueries: { ...serverQueries, latencyP99Ms: '' } } }))
})
