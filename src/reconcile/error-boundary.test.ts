import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, ConnectionError } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import type { EventNote } from '../decision/plan.ts'
import { ConfigMap } from '../kube/resources.ts'
import type { Trouble } from '../plan/pod-trouble.ts'
import { recordRejection } from '../plan/rejection.ts'
import { NameConflict, RuntimeError } from '../runtime/index.ts'
import { reportFailures } from './error-boundary.ts'

const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'a', name: 'x', uid: 'u' } }
const request = { verb: 'apply', path: '/x' }
const answer = (code: number, message: string) => new ApiError({ code, message }, request)

const QUOTA = 'pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0'

/** Fails `times` times in a row; what is recorded stays known, as in the status of an object. */
async function fail(error: unknown, { times = 1, recordFails }: { times?: number; recordFails?: unknown } = {}) {
  const events: EventNote[] = []
  const thrown: unknown[] = []
  let known: Trouble | undefined
  const recorder = { record: (_: KubeObject, event: EventNote) => void events.push(event) }
  const record = async (trouble: Trouble): Promise<void> => {
    if (recordFails !== undefined) throw recordFails
    const { rejection: refusal, events: news } = recordRejection(known, trouble)
    known = refusal
    events.push(...news)
  }
  for (let attempt = 0; attempt < times; attempt++)
    await reportFailures(() => Promise.reject(error), { object, recorder, record }).catch((caught: unknown) =>
      thrown.push(caught),
    )
  return { events: events.map(({ reason, note }) => [reason, note]), known, thrown }
}

const conflict = new NameConflict(object, [{ resource: ConfigMap, object }])

const recorded: readonly (readonly [what: string, error: Error, reason: string, message: string, event: string])[] = [
  [
    'a quota',
    answer(403, QUOTA),
    'QuotaExceeded',
    'quota small is exceeded: requested pods=1, used pods=0, limited to pods=0',
    'ReconcileFailed',
  ],
  ['a quota in unknown words', answer(403, 'exceeded quota!'), 'QuotaExceeded', 'exceeded quota!', 'ReconcileFailed'],
  ['a policy', answer(403, 'denied'), 'Refused', 'denied', 'ReconcileFailed'],
  ['bad credentials', answer(401, 'who are you'), 'Refused', 'who are you', 'ReconcileFailed'],
  ['an invalid field', answer(422, 'spec.x: Invalid'), 'Refused', 'spec.x: Invalid', 'ReconcileFailed'],
  ['an answer without a meaning', answer(418, 'teapot'), 'Refused', 'teapot', 'ReconcileFailed'],
  ['a taken name', conflict, 'Conflict', conflict.message, 'Conflict'],
]

for (const [what, error, reason, message, event] of recorded)
  test(`records ${what}, with one event however often it repeats`, async () => {
    const { events, known, thrown } = await fail(error, { times: 3 })
    assert.deepEqual(known, { reason, message })
    assert.deepEqual(events, [[event, event === 'Conflict' ? message : `${reason}: ${message}`]])
    assert.deepEqual(thrown, [error, error, error])
  })

for (const [what, error] of [
  ['a defect', new TypeError('x is not a function')],
  ['an object that cannot be served', new RuntimeError('Permanent', 'x is not a function')],
] as const)
  test(`reports ${what} by one event and records nothing`, async () => {
    const { events, known, thrown } = await fail(error)
    assert.deepEqual(events, [['ReconcileFailed', 'x is not a function']])
    assert.equal(known, undefined)
    assert.deepEqual(thrown, [error])
  })

for (const [what, error] of [
  ['a conflict', answer(409, 'changed')],
  ['a server error', answer(500, 'etcd')],
  ['a lost connection', new ConnectionError(request, new Error('reset'))],
  ['a namespace that is being deleted', namespaceTerminating()],
  ['a lost lease', new RuntimeError('NotLeading', 'lost')],
] as const)
  test(`reports nothing for ${what}: it needs no action`, async () => {
    assert.deepEqual(await fail(error), { events: [], known: undefined, thrown: [error] })
  })

test('reports the failed record instead, by one event', async () => {
  const recordFails = answer(403, 'no status for you')
  const { events, thrown } = await fail(answer(403, QUOTA), { recordFails })
  assert.deepEqual(events, [['ReconcileFailed', recordFails.message]])
  assert.deepEqual(thrown, [recordFails])
})

test('a record that meets a conflict is retried without an event', async () => {
  const recordFails = answer(409, 'changed')
  assert.deepEqual(await fail(answer(403, QUOTA), { recordFails }), {
    events: [],
    known: undefined,
    thrown: [recordFails],
  })
})

test('without a record, a rejected request is reported by one event', async () => {
  const events: EventNote[] = []
  const recorder = { record: (_: KubeObject, event: EventNote) => void events.push(event) }
  const rejected = reportFailures(() => Promise.reject(answer(403, 'denied')), { object, recorder })
  await assert.rejects(rejected, { statusMessage: 'denied' })
  assert.deepEqual(
    events.map(({ type, reason, action }) => [type, reason, action]),
    [['Warning', 'ReconcileFailed', 'Reconcile']],
  )
})

test('a long message is cut', async () => {
  const { known } = await fail(answer(403, 'x'.repeat(5_000)))
  assert.equal(known?.message.length, 1_000)
})

function namespaceTerminating(): ApiError {
  return new ApiError({ code: 403, details: { causes: [{ reason: 'NamespaceTerminating' }] } }, request)
}
