import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordRejection } from './rejection.ts'

const rejected = (message: string) => ({ reason: 'Refused', message })

test('records a rejection the first time, with one event', () => {
  const { rejection, events } = recordRejection(undefined, rejected('denied'))
  assert.deepEqual(rejection, rejected('denied'))
  assert.deepEqual(
    events.map(({ reason, note }) => [reason, note]),
    [['ReconcileFailed', 'Refused: denied']],
  )
})

for (const [what, first, second] of [
  [
    'a request id',
    'denied (id 0c8f8a60-abcd-4b5e-9d8e-1f1f1f1f1f1f)',
    'denied (id 1d9f8a60-6a5c-abcd-abcd-2e2e2e2e2e2e)',
  ],
  ['a count', 'used: 15 of 16', 'used: 16 of 16'],
  ['a time', 'denied at 2026-01-01T00:00:00Z', 'denied at 2026-01-01T00:00:01Z'],
] as const)
  test(`keeps the first wording when only ${what} differs`, () => {
    assert.deepEqual(recordRejection(rejected(first), rejected(second)), { rejection: rejected(first), events: [] })
  })

test('records another cause, and another conflict', () => {
  assert.equal(recordRejection(rejected('denied'), rejected('too large')).events.length, 1)
  const conflict = (message: string) => ({ reason: 'Conflict', message })
  const { events } = recordRejection(conflict('Service/bert-1 exists'), conflict('Service/bert-2 exists'))
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['Conflict'],
  )
  assert.deepEqual(recordRejection(conflict('a'), conflict('a')).events, [])
})
