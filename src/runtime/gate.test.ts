import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call, Verb } from '../kube/interceptor.ts'
import { writeGate } from './gate.ts'

const call = (verb: Verb): Call => ({ verb, method: 'GET', path: '/x', stream: false, attempt: 1, timeoutMs: 1_000 })
const answer = { status: 200, headers: {}, body: '' }
const send = async () => answer

test('a closed gate passes reads and exempt calls and rejects every write', async () => {
  const gate = writeGate({ mayWrite: () => false, exempt: ({ path }) => path === '/lease' })
  for (const verb of ['get', 'list', 'watch'] as const) assert.equal(await gate(call(verb), send), answer)
  for (const verb of ['create', 'update', 'patch', 'apply', 'delete'] as const) {
    await assert.rejects(gate(call(verb), send), { code: 'NotLeading' })
  }
  assert.equal(await gate({ ...call('update'), path: '/lease' }, send), answer)
})

test('the gate is checked before every attempt', async () => {
  let leading = true
  const gate = writeGate({ mayWrite: () => leading, exempt: () => false })
  assert.equal(await gate(call('patch'), send), answer)
  leading = false
  await assert.rejects(gate({ ...call('patch'), attempt: 2 }, send), { code: 'NotLeading' })
})
