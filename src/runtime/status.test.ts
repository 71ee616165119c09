import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Condition, mergePatch, stamped, withCondition } from './status.ts'

const ready = (status: Condition['status'], lastTransitionTime?: string): Condition => ({
  type: 'Ready',
  status,
  reason: 'Because',
  message: '',
  ...(lastTransitionTime !== undefined && { lastTransitionTime }),
})

test('a condition keeps its time while its status stays, whatever its message says', () => {
  const before = { conditions: [ready('True', 'yesterday')] }
  const after = stamped({ conditions: [{ ...ready('True'), message: 'new words' }] }, before, 'today')
  assert.equal(after.conditions[0]?.lastTransitionTime, 'yesterday')
})

test('a condition that is new or has turned gets the time of now', () => {
  const before = { conditions: [ready('False', 'yesterday')] }
  assert.equal(stamped({ conditions: [ready('True')] }, before, 'today').conditions[0]?.lastTransitionTime, 'today')
  assert.equal(stamped({ conditions: [ready('True')] }, undefined, 'today').conditions[0]?.lastTransitionTime, 'today')
})

test('a status without conditions is left as it is', () => {
  assert.deepEqual(stamped({ phase: 'Running' }, undefined, 'today'), { phase: 'Running' })
})

test('a condition takes the place of another of its type', () => {
  assert.deepEqual(withCondition({ conditions: [ready('True')] }, ready('False')), { conditions: [ready('False')] })
})

test('a merge patch says what changed and what went', () => {
  assert.deepEqual(mergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { a: 1, b: { c: 3 }, e: [1, 2] }), {
    b: { c: 3, d: null },
    e: [1, 2],
  })
  assert.equal(mergePatch({ a: { b: [1] } }, { a: { b: [1] } }), undefined)
  assert.equal(mergePatch({}, { a: null }), undefined)
})

/** RFC 7396, as the server applies it. */
function applied(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = applied(result[key], value)
  }
  return result
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const statuses = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(
    fc.nat(3),
    fc.array(fc.nat(3), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(fc.nat(3), fc.dictionary(fc.constantFrom('p', 'q'), fc.nat(2)))),
  ),
)

test('property: the patch leads exactly there, and there is none when already there', () => {
  fc.assert(
    fc.property(statuses, statuses, (from, to) => {
      const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
      const patch = mergePatch(plain(from), plain(to))
      assert.deepEqual(plain(patch === undefined ? from : applied(from, patch)), plain(to))
      assert.equal(mergePatch(plain(to), plain(to)), undefined)
    }),
  )
})
