import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorConfig } from './operator-config.ts'
import { defaultTrainingConfig } from './plan/training/config.ts'

test('what is not said keeps its default', () => {
  assert.deepEqual(operatorConfig({}).training, defaultTrainingConfig)
  const { training } = operatorConfig({ training: { backoffMs: 5, gpuNodeSelector: {} } })
  assert.deepEqual(training, { ...defaultTrainingConfig, backoffMs: 5, gpuNodeSelector: {} })
})

test('what is not known is refused by its name', () => {
  assert.throws(() => operatorConfig({ trainign: {} }), /there is no trainign/)
  assert.throws(() => operatorConfig({ training: { backofMs: 5 } }), /there is no training\.backofMs/)
  assert.throws(() => operatorConfig({ training: { backoffMs: '5 s' } }), /training\.backoffMs must be of type number/)
  assert.throws(() => operatorConfig({ training: { gpuTolerations: {} } }), /must be of type list/)
  assert.throws(() => operatorConfig([]), /the file must be a map/)
})
