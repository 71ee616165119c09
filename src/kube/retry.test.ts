import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { ApiError, ConnectionError } from './errors.ts'
import { isRetryable, MAX_ATTEMPTS, retryDelayMs } from './retry.ts'

const request = { verb: 'patch', path: '/x' }
const answer = (code: number, reason: string, cause?: string) =>
  new ApiError({ code, reason, ...(cause ? { details: { causes: [{ reason: cause }] } } : {}) }, request)
const reset = new ConnectionError(request, new Error('reset'))
const refused = new ConnectionError(request, new Error('refused'), false)
const untrusted = new ConnectionError(request, Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' }), false)

const plain = { repeatable: true, conditional: false }
const conditional = { repeatable: true, conditional: true }
const once = { repeatable: false, conditional: false }

test('which errors are retried, for which calls', () => {
  const table: [what: string, error: unknown, plain: boolean, conditional: boolean, once: boolean][] = [
    ['reset after sending', reset, true, true, false],
    ['refused before sending', refused, true, true, true],
    ['an untrusted certificate', untrusted, false, false, false],
    ['429 too many requests', answer(429, 'TooManyRequests'), true, true, true],
    ['429 by a disruption budget', answer(429, 'TooManyRequests', 'DisruptionBudget'), false, false, false],
    ['500', answer(500, 'InternalError'), true, true, false],
    ['501', answer(501, 'NotImplemented'), false, false, false],
    ['503', answer(503, 'ServiceUnavailable'), true, true, false],
    ['504', answer(504, 'Timeout'), true, true, false],
    ['409 concurrent change', answer(409, 'Conflict'), true, false, false],
    ['409 owned by another manager', answer(409, 'Conflict', 'FieldManagerConflict'), false, false, false],
    ['409 already exists', answer(409, 'AlreadyExists'), false, false, false],
    ['400', answer(400, 'BadRequest'), false, false, false],
    ['401', answer(401, 'Unauthorized'), false, false, false],
    ['403', answer(403, 'Forbidden'), false, false, false],
    ['404', answer(404, 'NotFound'), false, false, false],
    ['410', answer(410, 'Expired'), false, false, false],
    ['422', answer(422, 'Invalid'), false, false, false],
    ['a bug', new TypeError('x'), false, false, false],
  ]
  for (const [what, error, ...expected] of table) {
    assert.deepEqual(
      [plain, conditional, once].map((replay) => isRetryable(error, replay)),
      expected,
      what,
    )
  }
})

test('delays grow within bounds, and retries end', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: MAX_ATTEMPTS - 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, dice) => {
        const wait = retryDelayMs(reset, plain, attempt, () => dice)
        const full = 100 * 2 ** (attempt - 1)
        assert.ok(wait !== undefined && wait >= full / 2 && wait <= full)
      },
    ),
  )
  assert.equal(
    retryDelayMs(reset, plain, MAX_ATTEMPTS, () => 0),
    undefined,
  )
})

test('never retries before Retry-After', () => {
  const error = new ApiError({ code: 429 }, request, 7_000)
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (dice) => {
      const wait = retryDelayMs(error, plain, 1, () => dice)
      assert.ok(wait !== undefined && wait > 7_000 && wait <= 7_100)
    }),
  )
})

test('does not retry an apply that does not fit the schema', () => {
  const message = 'failed to create typed patch object (/v1, Kind=Pod): .spec.dnsPolicy: expected string'
  const isRetried = (text: string): boolean => isRetryable(new ApiError({ code: 500, message: text }, request), plain)
  assert.deepEqual([isRetried(message), isRetried('etcd is slow')], [false, true])
})
