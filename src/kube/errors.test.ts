import assert from 'node:assert/strict'
import test from 'node:test'
import {
  ApiError,
  ConnectionError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isFieldConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from './errors.ts'

const request = { verb: 'get', path: '/api/v1/pods/x' }

test('predicates look at the code and the reason, and only at answers of the server', () => {
  const table = [
    { code: 404, reason: 'NotFound', is: isNotFound },
    { code: 403, reason: 'Forbidden', is: isForbidden },
    { code: 422, reason: 'Invalid', is: isInvalid },
    { code: 410, reason: 'Expired', is: isExpired },
    { code: 410, reason: 'Gone', is: isExpired },
    { code: 409, reason: 'AlreadyExists', is: isAlreadyExists },
    { code: 409, reason: 'Conflict', is: isConflict },
  ]
  const predicates = [isNotFound, isForbidden, isInvalid, isExpired, isAlreadyExists, isConflict]
  for (const { code, reason, is } of table) {
    const error = new ApiError({ code, reason }, request)
    assert.deepEqual(
      predicates.filter((predicate) => predicate(error)),
      [is],
      `${code} ${reason}`,
    )
  }
  for (const predicate of predicates) assert.equal(predicate(new ConnectionError(request, 'reset')), false)
})

test('the message names verb, path, code, reason and what the server said', () => {
  const error = new ApiError({ code: 404, reason: 'NotFound', message: 'pods "x" not found' }, request)
  assert.equal(error.message, 'get /api/v1/pods/x: 404 NotFound: pods "x" not found')
})

test('a refusal without a Status still gets the usual word', () => {
  assert.equal(new ApiError({ code: 503 }, request).reason, 'ServiceUnavailable')
  assert.equal(new ApiError({ code: 418 }, request).reason, 'Unknown')
})

test('the wait the server asks for comes from the header, else from the details', () => {
  const status = { code: 500, details: { retryAfterSeconds: 3 } }
  assert.equal(new ApiError(status, request).retryAfterMs, 3000)
  assert.equal(new ApiError(status, request, 1000).retryAfterMs, 1000)
  assert.equal(new ApiError({ code: 500 }, request).retryAfterMs, undefined)
})

test('a field conflict is told from a concurrent change', () => {
  const causes = [{ reason: 'FieldManagerConflict', field: '.spec.replicas' }]
  assert.equal(isFieldConflict(new ApiError({ code: 409, reason: 'Conflict', details: { causes } }, request)), true)
  assert.equal(isFieldConflict(new ApiError({ code: 409, reason: 'Conflict' }, request)), false)
})

test('a connection error keeps its cause', () => {
  const cause = new Error('socket hang up')
  const error = new ConnectionError(request, cause)
  assert.equal(error.cause, cause)
  assert.equal(error.message, 'get /api/v1/pods/x: socket hang up')
})
