import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenRequests, parseOpen } from './open-requests.ts'

const host = (address: string, port_value: number, value: unknown) => ({
  address: { socket_address: { address, port_value } },
  stats: [
    { name: 'cx_active', value: '7' },
    { type: 'GAUGE', name: 'rq_active', value },
  ],
})

test('requests in progress are summed over the clusters of an address', () => {
  const text = JSON.stringify({
    cluster_statuses: [
      { host_statuses: [host('10.0.0.1', 80, '3'), host('10.0.0.2', 80, '1')] },
      { host_statuses: [host('10.0.0.1', 80, '2')] },
      {},
    ],
  })
  assert.deepEqual(
    [...parseOpen(text)],
    [
      ['10.0.0.1:80', 5],
      ['10.0.0.2:80', 1],
    ],
  )
})

for (const [what, text] of [
  ['nothing', ''],
  ['null', 'null'],
  ['no list', '{"cluster_statuses":3}'],
  [
    'too many',
    JSON.stringify({ cluster_statuses: [{ host_statuses: Array.from({ length: 1_001 }, () => host('a', 1, '1')) }] }),
  ],
] as const)
  test(`a response with ${what} is not used`, () => assert.throws(() => parseOpen(text)))

test('an endpoint without an address or with a senseless number counts nothing', () => {
  const hosts = [{}, host('10.0.0.1', 80, 'many'), host('10.0.0.2', 80, '-1')]
  assert.deepEqual([...parseOpen(JSON.stringify({ cluster_statuses: [{ host_statuses: hosts }] }))], [])
})

test('the sum over time grows by the requests in progress, and only for versions of the route', () => {
  const open = new OpenRequests()
  const destination = { version: 'v1', ip: '10.0.0.1', port: 80, weight: 100 }
  assert.equal(open.of('v1'), undefined)
  open.note(new Map([['10.0.0.1:80', 9]]), [destination], 1_000)
  assert.equal(open.of('v1'), 0)
  open.note(
    new Map([
      ['10.0.0.1:80', 4],
      ['10.0.0.9:80', 5],
    ]),
    [destination],
    1_500,
  )
  open.note(new Map(), [destination], 9_000)
  assert.equal(open.of('v1'), 2_000)
  assert.equal(open.of('v2'), undefined)
})
