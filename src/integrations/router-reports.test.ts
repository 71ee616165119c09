import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import type { RouterReport } from '../api/router-report.ts'
import type { Pod } from '../kube/resources.ts'
import { RouterRates } from './router-rates.ts'
import { routerReports } from './router-reports.ts'

const report = (requests: number, { startedAt = 1, errors = 0, version = 'v1' } = {}): RouterReport => ({
  startedAt,
  versions: [{ version, weight: 100, requests, errors, latencyMsSum: requests * 20 }],
})

const pod = (uid: string, podIP?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, uid },
  status: podIP === undefined ? {} : { podIP },
})

async function serving(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

describe('reports of routers', () => {
  test('are read by the address of the pod; one without an address is not asked', async (t) => {
    const port = await serving(t, (_, response) => response.end(JSON.stringify(report(5))))
    const reports = await routerReports({ port })([pod('a', '127.0.0.1'), pod('b')])
    assert.deepEqual([...reports], [['a', report(5)]])
  })

  const bad: readonly (readonly [string, RequestListener])[] = [
    ['never answers', () => undefined],
    ['begins and never ends', (_, response) => void response.write('{')],
    ['answers without end', (_, response) => void response.end('x'.repeat(1024 * 1024))],
    ['answers with an error', (_, response) => void response.writeHead(500).end(JSON.stringify(report(5)))],
    ['answers with something else', (_, response) => void response.end('<html>')],
    ['answers with null', (_, response) => void response.end('null')],
    [
      'answers with words for numbers',
      (_, response) => void response.end('{"startedAt":1,"versions":[{"version":"v1"}]}'),
    ],
    ['hangs up', (request) => void request.socket.destroy()],
  ]
  for (const [what, listener] of bad) {
    test(`one that ${what} is left out, and nobody fails`, async (t) => {
      const port = await serving(t, listener)
      assert.equal((await routerReports({ port, timeoutMs: 200 })([pod('a', '127.0.0.1')])).size, 0)
    })
  }

  test('a port where nobody listens is left out', async () => {
    assert.equal((await routerReports({ port: 1 })([pod('a', '127.0.0.1')])).size, 0)
  })
})

describe('rates', () => {
  const reports = (...list: RouterReport[]) => new Map(list.map((one, index) => [`pod-${index}`, one]))

  test('are what went through between two reports, all pods together', () => {
    const rates = new RouterRates()
    assert.equal(rates.note(reports(report(100), report(0)), 0), undefined)
    const after = rates.note(reports(report(200), report(300, { errors: 40 })), 10_000)
    assert.deepEqual(after?.get('v1'), { requestsPerSecond: 40, averageLatencyMs: 20, errorRate: 0.1 })
  })

  test('stay as they are within a window, however often is asked', () => {
    const rates = new RouterRates()
    rates.note(reports(report(0)), 0)
    const first = rates.note(reports(report(100)), 10_000)
    assert.deepEqual(rates.note(reports(report(5_000)), 10_001), first)
    assert.equal(rates.note(reports(report(300)), 20_000)?.get('v1')?.requestsPerSecond, 20)
  })

  test('a router that started anew has counted from zero', () => {
    const rates = new RouterRates()
    rates.note(reports(report(1_000)), 0)
    assert.equal(rates.note(reports(report(2_000, { startedAt: 2 })), 10_000)?.get('v1')?.requestsPerSecond, 200)
  })

  test('so has a version that came back', () => {
    const rates = new RouterRates()
    rates.note(reports(report(1_000)), 0)
    assert.equal(rates.note(reports(report(10)), 10_000)?.get('v1')?.requestsPerSecond, 1)
    assert.equal(rates.note(reports(report(30, { version: 'v2' })), 20_000)?.get('v2')?.requestsPerSecond, 3)
  })

  test('without requests there is a rate, and no average of nothing', () => {
    const rates = new RouterRates()
    rates.note(reports(report(7)), 0)
    assert.deepEqual(rates.note(reports(report(7)), 10_000)?.get('v1'), { requestsPerSecond: 0 })
  })

  test('a pod that does not answer is not counted with what it said before; one long gone is forgotten', () => {
    const rates = new RouterRates()
    rates.note(reports(report(0)), 0)
    rates.note(reports(report(100)), 10_000)
    assert.equal(rates.note(new Map(), 20_000), undefined)
    assert.equal(rates.note(reports(report(100)), 3_600_000), undefined)
  })
})
