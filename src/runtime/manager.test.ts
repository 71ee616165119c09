import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fixedCredential } from '../kube/client-config.ts'
import { createClient } from '../kube/client.ts'
import { ConfigMap, type Lease } from '../kube/resources.ts'
import { createLogger } from './log.ts'
import { Manager } from './manager.ts'

/** An API server that answers for leases at once and for nothing else, ever. */
class SlowServer {
  renewals = 0
  /** Calls that wait for an answer. */
  waiting = 0
  #version = 1
  #lease: Lease | undefined
  #onRenewal: () => void = () => undefined

  static async start(t: TestContext) {
    const slow = new SlowServer()
    const server = createServer((request, response) => void slow.#answer(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.closeAllConnections())
    t.after(() => server.close())
    return { slow, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  async renewed(times: number): Promise<void> {
    const target = this.renewals + times
    while (this.renewals < target) await new Promise<void>((resolve) => (this.#onRenewal = resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url?.includes('/leases')) return void (this.waiting += 1)
    const send = (code: number, body: object): void => void response.writeHead(code).end(JSON.stringify(body))
    if (request.method === 'GET') return this.#lease ? send(200, this.#lease) : send(404, { kind: 'Status', code: 404 })
    const sent = (await json(request)) as Lease
    this.#version += 1
    this.#lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(this.#version) } }
    this.renewals += 1
    send(200, this.#lease)
    this.#onRenewal()
  }
}

test('renews the lease while every socket for other calls waits for a slow server', async (t) => {
  const { slow, url } = await SlowServer.start(t)
  const config = { server: url, namespace: 'a', credentials: fixedCredential({ token: 't' }) }
  const manager = new Manager({
    name: 'test',
    connect: (interceptors) => createClient(config, { interceptors }),
    log: createLogger({ level: 'silent' }),
    leaderElection: { lease: { namespace: 'a', name: 'l' }, retryMs: 20 },
    shutdownMs: 0,
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await slow.renewed(2)
  const bulk = Array.from({ length: 500 }, (_, number) =>
    manager.client.create(
      ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'a', name: `c-${number}` } },
      { signal: stop.signal },
    ),
  )
  void Promise.allSettled(bulk)
  while (slow.waiting < 32) await slow.renewed(1)
  // Rejects with NotLeading if renewals wait behind the other calls.
  await Promise.race([slow.renewed(20), running])
  assert.equal(manager.isLeading, true)
  stop.abort()
  await running
})
