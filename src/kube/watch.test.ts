/** A watch over minutes, with a fake clock and scripted responses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixedCredential } from './client-config.ts'
import { createClient } from './client.ts'
import type { Call, Response } from './interceptor.ts'
import { ConfigMap } from './resources.ts'
import { watch } from './watch.ts'
import type { WatchState } from './watch.ts'

const json = (status: number, body: object): Response => ({ status, headers: {}, body: JSON.stringify(body) })
const list = (resourceVersion: string) => json(200, { metadata: { resourceVersion }, items: [] })
const expired = json(410, { kind: 'Status', code: 410, reason: 'Expired' })

function answering(answer: (call: Call) => Response) {
  const config = { server: 'http://nowhere', namespace: 'x', credentials: fixedCredential({}) }
  return createClient(config, { interceptors: [(call) => Promise.resolve(answer(call))] })
}

test('accepts an older list after the server has repeated it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let lists = 0
  const client = answering((call) => {
    if (call.path.includes('sendInitialEvents')) return json(422, { kind: 'Status', code: 422 })
    return call.verb === 'list' ? list(lists++ === 0 ? '100' : '50') : expired
  })
  const stop = new AbortController()
  const states: WatchState[] = []
  const versions: string[] = []
  const turning = setInterval(() => t.mock.timers.tick(3_000), 0)
  for await (const update of watch(client, ConfigMap, {
    signal: stop.signal,
    onState: (state) => void states.push(state),
  })) {
    if (update.type === 'replace') versions.push(update.resourceVersion)
    if (versions.length === 2) stop.abort()
  }
  clearInterval(turning)
  assert.deepEqual(versions, ['100', '50'])
  const refusals = states.filter((state) => state.phase === 'waiting' && /older than 100/.test(String(state.error)))
  assert.equal(refusals.length, 10)
})

test('ends without an error when the signal aborts, in any state', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const answer of [list('1'), expired, json(500, {}), json(403, {})]) {
    const stop = new AbortController()
    const client = answering(() => answer)
    const onState = (state: WatchState) => {
      if (state.phase === 'waiting') setImmediate(() => stop.abort(new Error('not to be seen')))
    }
    for await (const update of watch(client, ConfigMap, { signal: stop.signal, onState }))
      assert.equal(update.type, 'replace')
  }
})
