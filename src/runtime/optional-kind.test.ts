import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { type TestContext, test } from 'node:test'
import type { Client } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { ConfigMap } from '../kube/resources.ts'
import { Cache } from './cache.ts'
import { systemClock } from './clock.ts'
import { createLogger } from './log.ts'
import { followWhileServed } from './optional-kind.ts'

const log = createLogger({ level: 'silent' })
const failure = (code: number) => new ApiError({ code }, { verb: 'get', path: '/x' })

const object: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion: '5' },
}

/** A server whose every watch shows one object and then ends with a 404, and which says by a script what it serves. */
class Flapping {
  asked = 0
  watches = 0
  readonly #served: (ask: number) => boolean | number

  constructor(served: (ask: number) => boolean | number) {
    this.#served = served
  }

  async request(): Promise<unknown> {
    this.asked += 1
    const answer = this.#served(this.asked)
    if (typeof answer === 'number') throw failure(answer)
    return { resources: answer ? [{ name: ConfigMap.plural }] : [] }
  }

  async *openWatch(): AsyncIterable<unknown> {
    this.watches += 1
    if (this.watches > 1) throw failure(404)
    yield { type: 'ADDED', object }
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '5', annotations } } }
  }

  pages(): AsyncIterable<unknown> {
    throw failure(404)
  }
}

function follow(t: TestContext, server: Flapping) {
  const stop = new AbortController()
  const cache = new Cache({ resource: ConfigMap, log })
  const client = server as unknown as Client
  const ended = followWhileServed(cache, { client, log, clock: systemClock, watch: { signal: stop.signal }, pollMs: 1 })
  t.after(async () => {
    stop.abort()
    await ended
  })
  return cache
}

async function happens(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

for (const [what, answer] of [
  ['the server still serves the kind', () => true],
  ['the server cannot say', (ask: number) => (ask === 1 ? true : 503)],
  ['only every other answer denies it', (ask: number) => ask % 2 === 1],
] as const)
  test(`a 404 of a watch leaves the cache as it is when ${what}`, async (t) => {
    const server = new Flapping(answer)
    const cache = follow(t, server)
    await happens(() => server.watches >= 3 && server.asked >= 4)
    assert.deepEqual([cache.isServed, cache.size], [true, 1])
  })

test('a kind that is missing in discovery twice is gone', async (t) => {
  const server = new Flapping((ask) => ask === 1)
  const cache = follow(t, server)
  await happens(() => !cache.isServed)
  assert.equal(cache.size, 0)
  assert.ok(server.asked >= 3)
})

test('a kind that is missing in discovery once at the start is not gone', async (t) => {
  const cache = follow(t, new Flapping((ask) => ask > 1))
  await cache.synced
  assert.deepEqual([cache.isServed, cache.size], [true, 1])
})
