import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Condition, mergePatch, stamped } from './status.ts'

const ready = (status: Condition['status'], lastTransitionTime?: string): Condition => ({
  type: 'Ready',
  status,
  reason: 'Because',
  message: '',
  ...(lastTransitionTime !== undefined && { lastTransitionTime }),
})

test('a condition keeps its time while its status does not change, whatever its message', () => {
  const before = { conditions: [ready('True', 'yesterday')] }
  const after = stamped({ conditions: [{ ...ready('True'), message: 'new words' }] }, before, 'today')
  assert.equal(after.conditions[0]?.lastTransitionTime, 'yesterday')
})

test('property: the time of a condition depends on its type and status alone', () => {
  const words = fc.record({ reason: fc.string(), message: fc.string(), observedGeneration: fc.nat() })
  fc.assert(
    fc.property(words, words, fc.constantFrom('True', 'False'), (one, other, status) => {
      const before = { conditions: [{ ...ready('True', 'yesterday'), ...one }] }
      const { conditions } = stamped({ conditions: [{ ...ready(status), ...other }] }, before, 'today')
      assert.equal(conditions[0]?.lastTransitionTime, status === 'True' ? 'yesterday' : 'today')
    }),
  )
})

test('a condition that is new or has changed gets the current time', () => {
  const before = { conditions: [ready('False', 'yesterday')] }
  assert.equal(stamped({ conditions: [ready('True')] }, before, 'today').conditions[0]?.lastTransitionTime, 'today')
  assert.equal(stamped({ conditions: [ready('True')] }, undefined, 'today').conditions[0]?.lastTransitionTime, 'today')
})

test('a status without conditions stays unchanged', () => {
  assert.deepEqual(stamped({ phase: 'Running' }, undefined, 'today'), { phase: 'Running' })
})

test('a merge patch has changed and removed fields', () => {
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

test('property: the patch leads exactly to the target, and is undefined if nothing changes', () => {
  fc.assert(
    fc.property(statuses, statuses, (from, to) => {
      const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
      const patch = mergePatch(plain(from), plain(to))
      assert.deepEqual(plain(patch === undefined ? from : applied(from, patch)), plain(to))
      assert.equal(mergePatch(plain(to), plain(to)), undefined)
    }),
  )
})
