import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Condition, getCondition, isTrue, removeCondition, setCondition, type Verdict } from './conditions.ts'

const ready = (status: 'True' | 'False', reason = 'Because'): Verdict => ({
  type: 'Ready',
  status,
  reason,
  message: 'm',
})
const MORNING = '2026-01-01T06:00:00Z'
const NOON = '2026-01-01T12:00:00Z'

test('a new condition is stamped and appended', () => {
  const other: Condition = { ...ready('True'), type: 'Healthy', lastTransitionTime: MORNING }
  const conditions = setCondition([other], ready('True'), NOON)
  assert.deepEqual(
    conditions.map(({ type }) => type),
    ['Healthy', 'Ready'],
  )
  assert.equal(getCondition(conditions, 'Ready')?.lastTransitionTime, NOON)
})

test('the time moves only when the status does', () => {
  const before = setCondition(undefined, ready('False'), MORNING)
  const reworded = setCondition(before, ready('False', 'Else'), NOON)
  assert.equal(getCondition(reworded, 'Ready')?.lastTransitionTime, MORNING)
  assert.equal(getCondition(reworded, 'Ready')?.reason, 'Else')
  const turned = setCondition(before, ready('True'), NOON)
  assert.equal(getCondition(turned, 'Ready')?.lastTransitionTime, NOON)
})

test('repeating a verdict returns the very same conditions', () => {
  const before = setCondition(undefined, { ...ready('True'), observedGeneration: 2 }, MORNING)
  assert.equal(setCondition(before, { ...ready('True'), observedGeneration: 2 }, NOON), before)
  assert.notEqual(setCondition(before, { ...ready('True'), observedGeneration: 3 }, NOON), before)
})

test('asking and removing', () => {
  const conditions = setCondition(undefined, ready('True'), MORNING)
  assert.equal(isTrue(conditions, 'Ready'), true)
  assert.equal(isTrue(conditions, 'Healthy'), false)
  assert.equal(isTrue(undefined, 'Ready'), false)
  assert.deepEqual(removeCondition(conditions, 'Ready'), [])
  assert.equal(removeCondition(conditions, 'Healthy'), conditions)
})
