import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ApiError, ConnectionError } from '../kube/errors.ts'
import { classify, type ErrorCode, errorCatalogue, RuntimeError } from './errors.ts'

const request = { verb: 'patch', path: '/x' }
const answer = (code: number, more: object = {}) => new ApiError({ code, ...more }, request)

const cases: { name: string; error: unknown; code: ErrorCode; retryAfterMs?: number }[] = [
  { name: 'no connection', error: new ConnectionError(request, new Error('reset')), code: 'ApiUnreachable' },
  { name: '400', error: answer(400), code: 'ApiInvalid' },
  { name: '401', error: answer(401), code: 'ApiUnauthorized' },
  { name: '403', error: answer(403), code: 'ApiForbidden' },
  {
    name: '403 for quota',
    error: answer(403, { message: 'pods "x" is forbidden: exceeded quota: gpus' }),
    code: 'QuotaExceeded',
  },
  {
    name: '403 in a terminating namespace',
    error: answer(403, { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    code: 'NamespaceTerminating',
  },
  { name: '404', error: answer(404), code: 'ApiNotFound' },
  { name: '409', error: answer(409), code: 'ApiConflict' },
  { name: '409 for a taken name', error: answer(409, { reason: 'AlreadyExists' }), code: 'ApiAlreadyExists' },
  { name: '410', error: answer(410), code: 'ApiExpired' },
  { name: '422', error: answer(422), code: 'ApiInvalid' },
  {
    name: '500 for an apply that does not fit the schema',
    error: answer(500, { message: 'failed to create typed patch object (/v1, Kind=Pod): .spec.x: field not declared' }),
    code: 'ApiInvalid',
  },
  {
    name: '429 with Retry-After',
    error: answer(429, { details: { retryAfterSeconds: 3 } }),
    code: 'ApiThrottled',
    retryAfterMs: 3_000,
  },
  { name: '500', error: answer(500), code: 'ApiUnavailable' },
  { name: '504', error: answer(504), code: 'ApiUnavailable' },
  { name: 'an abort that is not ours', error: new DOMException('stop', 'AbortError'), code: 'Unexpected' },
  { name: 'one that knows its place', error: new RuntimeError('Permanent', 'no'), code: 'Permanent' },
  {
    name: 'one that knows its time',
    error: new RuntimeError('External', 'later', { retryAfterMs: 7 }),
    code: 'External',
    retryAfterMs: 7,
  },
  { name: 'a defect', error: new TypeError('x is not a function'), code: 'Unexpected' },
  { name: 'a thrown string', error: 'boom', code: 'Unexpected' },
  { name: 'nothing at all', error: undefined, code: 'Unexpected' },
]

for (const { name, error, code, retryAfterMs } of cases) {
  test(`classify: ${name} is ${code}`, () => {
    const expected = { code, ...errorCatalogue[code], ...(retryAfterMs !== undefined && { retryAfterMs }) }
    assert.deepEqual(classify(error), expected)
  })
}

test('every code is documented with its class and retry policy, and nothing else is', async () => {
  const page = await readFile(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `(\w+)` +\| (\w+) +\| (\w+) +\|/gm)].map(([, ...cells]) => cells.join(' '))
  const catalogued = Object.entries(errorCatalogue).map(([code, entry]) => `${code} ${entry.class} ${entry.retry}`)
  assert.deepEqual(documented.toSorted(), catalogued.toSorted())
})
