import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fetchFailureReasons, fetchFailureText, parseFetchFailure } from './fetch-failure.ts'

test('the planner reads what the agent writes', () => {
  for (const reason of fetchFailureReasons) {
    const failure = { reason, message: 's3://models/bert: "no" such\nkey' }
    assert.deepEqual(parseFetchFailure(fetchFailureText(failure)), failure)
  }
})

test('messages of any length and script fit into a termination log', () => {
  for (const character of ['x', '"', 'ж', '模', '\u0001']) {
    const text = fetchFailureText({ reason: 'Invalid', message: character.repeat(10_000) })
    if (character !== '\u0001') assert.ok(Buffer.byteLength(text) <= 4_096, `${character}: ${Buffer.byteLength(text)}`)
    assert.equal(parseFetchFailure(text)?.reason, 'Invalid')
  }
})

test('ignores termination messages that the agent did not write', () => {
  for (const text of [undefined, '', 'Killed', '{"reason":"Oops","message":"x"}', '{"reason":"NoSpace"}', '{"reason":'])
    assert.equal(parseFetchFailure(text), undefined)
})
