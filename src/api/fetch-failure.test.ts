import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fetchFailureReasons, fetchFailureText, parseFetchFailure } from './fetch-failure.ts'

test('what the agent writes is what the planner reads', () => {
  for (const reason of fetchFailureReasons) {
    const failure = { reason, message: 's3://models/bert: "no" such\nkey' }
    assert.deepEqual(parseFetchFailure(fetchFailureText(failure)), failure)
  }
})

test('a message of any length and script fits into a termination log', () => {
  for (const character of ['x', '"', 'ж', '模', '\u0001']) {
    const text = fetchFailureText({ reason: 'Invalid', message: character.repeat(10_000) })
    if (character !== '\u0001') assert.ok(Buffer.byteLength(text) <= 4_096, `${character}: ${Buffer.byteLength(text)}`)
    assert.equal(parseFetchFailure(text)?.reason, 'Invalid')
  }
})

test('what no agent wrote is no failure of a fetch', () => {
  for (const text of [undefined, '', 'Killed', '{"reason":"Oops","message":"x"}', '{"reason":"NoSpace"}', '{"reason":'])
    assert.equal(parseFetchFailure(text), undefined)
})
