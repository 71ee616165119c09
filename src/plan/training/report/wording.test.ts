import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allOf, nameOf, portion, quantify } from './wording.ts'

test('one is singular, everything else plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => quantify(count, 'worker')),
    ['0 workers', '1 worker', '2 workers'],
  )
  assert.deepEqual([portion(0, 1, 'pod'), portion(1, 2, 'pod')], ['0 of 1 pod', '1 of 2 pods'])
  assert.deepEqual([allOf(1, 'worker'), allOf(2, 'worker')], ['1 worker', 'all 2 workers'])
})

test('names a pod by its role', () => {
  assert.deepEqual([nameOf({ role: 'worker', index: 3 }), nameOf({ role: 'ps', index: 0 })], ['Worker 3', 'Ps 0'])
})
