import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorConfig } from './operator-config.ts'
import { defaultServingConfig } from './plan/serving/config.ts'
import { defaultTrainingConfig } from './plan/training/config.ts'

test('what is not said keeps its default', () => {
  assert.deepEqual(operatorConfig({}), { training: defaultTrainingConfig, serving: defaultServingConfig })
  const { training } = operatorConfig({ training: { backoffMs: 5, gpuNodeSelector: {} } })
  assert.deepEqual(training, { ...defaultTrainingConfig, backoffMs: 5, gpuNodeSelector: {} })
  const { serving } = operatorConfig({ serving: { drainSeconds: 5 } })
  assert.deepEqual(serving, { ...defaultServingConfig, drainSeconds: 5 })
})

test('what is not known is refused by its name', () => {
  assert.throws(() => operatorConfig({ trainign: {} }), /there is no trainign/)
  assert.throws(() => operatorConfig({ training: { backofMs: 5 } }), /there is no training\.backofMs/)
  assert.throws(() => operatorConfig({ training: { backoffMs: '5 s' } }), /training\.backoffMs must be of type number/)
  assert.throws(() => operatorConfig({ training: { gpuTolerations: {} } }), /must be of type list/)
  assert.throws(() => operatorConfig({ serving: { routerImage: 3 } }), /serving\.routerImage must be of type string/)
  assert.throws(() => operatorConfig({ serving: null }), /serving must be of type object/)
  assert.throws(() => operatorConfig([]), /the file must be a map/)
})
