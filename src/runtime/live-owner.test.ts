import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../kube/client.ts'
import { ConfigMap } from '../kube/resources.ts'
import { currencyCheck } from './live-owner.ts'

const owner = (resourceVersion: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion },
})

function demand(live: ConfigMap) {
  const reads: string[] = []
  const client = {
    get: async () => {
      reads.push('get')
      return live
    },
  } as unknown as Client
  const call = { client, signal: new AbortController().signal }
  return { reads, demandCurrent: currencyCheck({ owner: owner('1'), resource: ConfigMap, call }) }
}

test('reads the owner once, however often it is demanded', async () => {
  const { reads, demandCurrent } = demand(owner('1'))
  assert.deepEqual(reads, [], 'not before it is needed')
  await demandCurrent()
  await demandCurrent()
  assert.deepEqual(reads, ['get'])
})

test('rejects every demand when the owner has changed', async () => {
  const { reads, demandCurrent } = demand(owner('2'))
  await assert.rejects(demandCurrent(), { code: 'Transient' })
  await assert.rejects(demandCurrent(), { code: 'Transient' })
  assert.deepEqual(reads, ['get'])
})
