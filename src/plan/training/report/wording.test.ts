import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOf } from './wording.ts'

test('names a pod by its role', () => {
  assert.deepEqual([nameOf({ role: 'worker', index: 3 }), nameOf({ role: 'ps', index: 0 })], ['Worker 3', 'Ps 0'])
})
