import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { checkpointsResultText, isCheckpointName, parseCheckpointsResult } from './checkpoint-result.ts'

const latest = { name: 'step-00001000', step: 1000, time: '2026-01-01T12:00:00.000Z' }

test('a result is read as it was written', () => {
  for (const result of [
    { latest, count: 3, pruned: 2, imported: false },
    { count: 0, pruned: 0, imported: false, other: true as const },
    { error: 's3://bucket/x: the server answers 403' },
  ]) {
    assert.deepEqual(parseCheckpointsResult(`${checkpointsResultText(result)}\n`), result)
  }
})

test('what the agent did not write is no result', () => {
  const valid = { latest, count: 3, pruned: 2, imported: false }
  for (const text of [
    undefined,
    '',
    'OOMKilled',
    '[]',
    '{"count":1',
    JSON.stringify({ ...valid, count: -1 }),
    JSON.stringify({ ...valid, pruned: '2' }),
    JSON.stringify({ ...valid, imported: undefined }),
    JSON.stringify({ ...valid, latest: { ...latest, name: '../x' } }),
    JSON.stringify({ ...valid, latest: { ...latest, step: 1.5 } }),
    JSON.stringify({ ...valid, latest: { ...latest, time: 'x' } }),
    JSON.stringify({ error: 3 }),
  ]) {
    assert.equal(parseCheckpointsResult(text), undefined, text)
  }
})

test('property: the text of a failure is one line of at most 2 KiB', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', size: 'large', maxLength: 5_000 }), (error) => {
      const text = checkpointsResultText({ error })
      assert.ok(Buffer.byteLength(text) <= 2_048 && !text.includes('\n'))
      assert.ok(parseCheckpointsResult(text))
    }),
  )
})

test('names of checkpoints', () => {
  for (const name of ['step-00001000', 'checkpoint-500', 'a', '0.1_x', 'x'.repeat(128)])
    assert.ok(isCheckpointName(name))
  for (const name of ['', '.a', '..', '-a', 'a/b', 'a b', 'a\n', '\na', 'é', 'x'.repeat(129), 'a.replaced-1']) {
    assert.ok(!isCheckpointName(name), name)
  }
})
