import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Addresses } from './addresses.ts'

test('refreshes known addresses in the background', async () => {
  let now = 0
  const answers = [Promise.resolve('10.0.0.1'), new Promise<string>(() => undefined), Promise.resolve('10.0.0.2')]
  let lookups = 0
  const lookup = (): Promise<string> => answers[lookups++] ?? Promise.reject(new Error('ENOTFOUND'))
  const addresses = new Addresses({ lookup, now: () => now })
  const versions = [{ version: 'v1', address: 'a:80', weight: 100 }]
  const ip = async () => (await addresses.resolve({ versions }))[0]?.ip
  const observed = []
  for (now of [0, 9_000, 10_000, 19_000, 20_000, 29_000, 30_000, 40_000]) observed.push([now, lookups, await ip()])
  assert.deepEqual(observed, [
    [0, 0, '10.0.0.1'],
    [9_000, 1, '10.0.0.1'],
    [10_000, 1, '10.0.0.1'],
    [19_000, 2, '10.0.0.1'],
    [20_000, 2, '10.0.0.1'],
    [29_000, 3, '10.0.0.2'],
    [30_000, 3, '10.0.0.2'],
    [40_000, 4, '10.0.0.2'],
  ])
})
