import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorConfig } from './operator-config.ts'
import { defaultServingConfig } from './plan/serving/index.ts'
import { defaultTrainingConfig } from './plan/training/index.ts'

test('omitted settings keep their defaults', () => {
  assert.deepEqual(operatorConfig({}), { training: defaultTrainingConfig, serving: defaultServingConfig })
  const { training } = operatorConfig({ training: { backoffMs: 5, gpuNodeSelector: {} } })
  assert.deepEqual(training, { ...defaultTrainingConfig, backoffMs: 5, gpuNodeSelector: {} })
  const { serving } = operatorConfig({ serving: { drainSeconds: 5 } })
  assert.deepEqual(serving, { ...defaultServingConfig, drainSeconds: 5 })
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
