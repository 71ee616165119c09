import assert from 'node:assert/strict'
import test from 'node:test'
import {
  ApiError,
  ConnectionError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isFieldConflict,
  isInvalid,
  isNotFound,
  isPreconditionFailed,
} from './errors.ts'

const request = { verb: 'get', path: '/api/v1/pods/x' }

test('predicates use code and reason, and match only responses of the server', () => {
  const table = [
    { code: 404, reason: 'NotFound', is: isNotFound },
    { code: 422, reason: 'Invalid', is: isInvalid },
    { code: 410, reason: 'Expired', is: isExpired },
    { code: 410, reason: 'Gone', is: isExpired },
    { code: 409, reason: 'AlreadyExists', is: isAlreadyExists },
    { code: 409, reason: 'Conflict', is: isConflict },
  ]
  const predicates = [isNotFound, isInvalid, isExpired, isAlreadyExists, isConflict]
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

test('the message has verb, path, code, reason and the message of the server', () => {
  const error = new ApiError({ code: 404, reason: 'NotFound', message: 'pods "x" not found' }, request)
  assert.equal(error.message, 'get /api/v1/pods/x: 404 NotFound: pods "x" not found')
})

test('a rejection without a Status has the usual reason', () => {
  assert.equal(new ApiError({ code: 503 }, request).reason, 'ServiceUnavailable')
  assert.equal(new ApiError({ code: 418 }, request).reason, 'Unknown')
})

test('Retry-After comes from the header, else from the details', () => {
  const status = { code: 500, details: { retryAfterSeconds: 3 } }
  assert.equal(new ApiError(status, request).retryAfterMs, 3000)
  assert.equal(new ApiError(status, request, 1000).retryAfterMs, 1000)
  assert.equal(new ApiError({ code: 500 }, request).retryAfterMs, undefined)
})

test('distinguishes a field conflict from a concurrent change', () => {
  const causes = [{ reason: 'FieldManagerConflict', field: '.spec.replicas' }]
  assert.equal(isFieldConflict(new ApiError({ code: 409, reason: 'Conflict', details: { causes } }, request)), true)
  assert.equal(isFieldConflict(new ApiError({ code: 409, reason: 'Conflict' }, request)), false)
})

test('a failed precondition is recognised by the message of the server, not by names', () => {
  const conflict = (message: string, path = '/api/v1/namespaces/x/pods/y') =>
    new ApiError({ code: 409, reason: 'Conflict', message }, { verb: 'delete', path })
  const failed = [
    'Operation cannot be fulfilled on pods "y": StorageError: invalid object, Code: 4, Key: /registry/pods/x/y, ' +
      'ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: a, UID in object meta: b',
    'Operation cannot be fulfilled on pods "y": the UID in the precondition (a) does not match the UID in record (b). ' +
      'The object might have been deleted and then recreated',
    'Operation cannot be fulfilled on pods "y": the ResourceVersion in the precondition (1) does not match the ' +
      'ResourceVersion in record (2). The object might have been modified',
  ]
  for (const message of failed) assert.equal(isPreconditionFailed(conflict(message)), true, message)
  const modified = 'the object has been modified; please apply your changes to the latest version and try again'
  const path = '/api/v1/namespaces/precondition-x/pods/precondition'
  for (const name of ['y', 'precondition-failed', 'in-the-precondition']) {
    const message = `Operation cannot be fulfilled on pods "${name}": ${modified}`
    assert.equal(isPreconditionFailed(conflict(message, path)), false, message)
  }
})

test('a connection error keeps its cause', () => {
  const cause = new Error('socket hang up')
  const error = new ConnectionError(request, cause)
  assert.equal(error.cause, cause)
  assert.equal(error.message, 'get /api/v1/pods/x: socket hang up')
})
