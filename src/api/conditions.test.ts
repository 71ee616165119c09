import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Condition, getCondition, isTrue } from './conditions.ts'

const condition = (type: string, status: Condition['status']): Condition => ({
  type,
  status,
  reason: 'Because',
  message: 'm',
  lastTransitionTime: '2026-01-01T06:00:00Z',
})
const conditions = [condition('Healthy', 'False'), condition('Ready', 'True')]

test('finds a condition by its type', () => {
  assert.equal(getCondition(conditions, 'Ready'), conditions[1])
  assert.equal(getCondition(conditions, 'Scaled'), undefined)
  assert.equal(getCondition(undefined, 'Ready'), undefined)
})

test('a condition is true only if its status is True', () => {
  assert.equal(isTrue(conditions, 'Ready'), true)
  assert.equal(isTrue(conditions, 'Healthy'), false)
  assert.equal(isTrue(conditions, 'Scaled'), false)
  assert.equal(isTrue(undefined, 'Ready'), false)
})
