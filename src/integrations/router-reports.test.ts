import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import type { TrafficReport } from '../api/router-report.ts'
import type { Pod } from '../kube/resources.ts'
import { TrafficRates } from './router-rates.ts'
import { trafficReports, type TrafficReportsOptions } from './router-reports.ts'

const report = (requests: number, { startedAt = 1, errors = 0, version = 'v1' } = {}): TrafficReport => ({
  startedAt,
  versions: [{ version, weight: 100, requests, errors, latencyMsSum: requests * 20 }],
})

/** The servers of this test have an address of this machine. */
const local = (options: TrafficReportsOptions) => trafficReports({ ...options, accepts: () => true })

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
  test('are read from the address of the pod, if it has one', async (t) => {
    const port = await serving(t, (_, response) => response.end(JSON.stringify(report(5))))
    const reports = await local({ port })([pod('a', '127.0.0.1'), pod('b')])
    assert.deepEqual([...reports], [['a', report(5)]])
  })

  const bad: readonly (readonly [string, RequestListener])[] = [
    ['never answers', () => undefined],
    ['begins and never ends', (_, response) => void response.write('{')],
    ['answers without end', (_, response) => void response.end('x'.repeat(1024 * 1024))],
    [
      'answers with a report and then without end',
      (_, response) => void response.end(`${JSON.stringify(report(5))}${' '.repeat(64 * 1024)}`),
    ],
    [
      'names more versions than a model may have',
      (_, response) => {
        const [version] = report(5).versions
        response.end(JSON.stringify({ startedAt: 1, versions: Array.from({ length: 101 }, () => version) }))
      },
    ],
    ['counts below zero', (_, response) => void response.end(JSON.stringify(report(-5)))],
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
    test(`omits a router that ${what}, without an error`, async (t) => {
      const port = await serving(t, listener)
      const timeoutMs = /never/.test(what) ? 200 : 60_000
      assert.equal((await local({ port, timeoutMs })([pod('a', '127.0.0.1')])).size, 0)
    })
  }

  test('omits a pod with a closed port', async () => {
    assert.equal((await local({ port: 1 })([pod('a', '127.0.0.1')])).size, 0)
  })
})

describe('rates', () => {
  const reports = (...list: TrafficReport[]) => new Map(list.map((one, index) => [`pod-${index}`, one]))

  test('are the difference of two reports, summed over all pods', () => {
    const rates = new TrafficRates()
    assert.equal(rates.note(reports(report(100), report(0)), 0), undefined)
    const after = rates.note(reports(report(200), report(300, { errors: 40 })), 10_000)
    const figures = { requestsPerSecond: 40, averageLatencyMs: 20, errorRate: 0.1, proxies: 2 }
    assert.deepEqual(after?.get('v1'), figures)
  })

  test('include the average number of requests in progress, if every router counts them', () => {
    const open = (openMsSum?: number): TrafficReport => {
      const [version] = report(0).versions
      return { startedAt: 1, versions: [{ ...version!, ...(openMsSum !== undefined && { openMsSum }) }] }
    }
    const between = (before: readonly TrafficReport[], after: readonly TrafficReport[]) => {
      const rates = new TrafficRates()
      rates.note(reports(...before), 0)
      return rates.note(reports(...after), 10_000)?.get('v1')?.concurrency
    }
    assert.equal(between([open(5_000), open(0)], [open(35_000), open(10_000)]), 4)
    assert.equal(between([open(90_000)], [open(20_000)]), 2, 'a counter that has restarted')
    assert.equal(between([open(0), open()], [open(35_000), open()]), undefined)
  })

  test('do not change within a window', () => {
    const rates = new TrafficRates()
    rates.note(reports(report(0)), 0)
    const first = rates.note(reports(report(100)), 10_000)
    assert.deepEqual(rates.note(reports(report(5_000)), 10_001), first)
    assert.equal(rates.note(reports(report(300)), 20_000)?.get('v1')?.requestsPerSecond, 20)
  })

  test('a restarted router counts from zero', () => {
    const rates = new TrafficRates()
    rates.note(reports(report(1_000)), 0)
    assert.equal(rates.note(reports(report(2_000, { startedAt: 2 })), 10_000)?.get('v1')?.requestsPerSecond, 200)
  })

  test('a version that was added again counts from zero', () => {
    const rates = new TrafficRates()
    rates.note(reports(report(1_000)), 0)
    assert.equal(rates.note(reports(report(10)), 10_000)?.get('v1')?.requestsPerSecond, 1)
    assert.equal(rates.note(reports(report(30, { version: 'v2' })), 20_000)?.get('v2')?.requestsPerSecond, 3)
  })

  test('without requests, the rate is zero and there are no averages', () => {
    const rates = new TrafficRates()
    rates.note(reports(report(7)), 0)
    assert.deepEqual(rates.note(reports(report(7)), 10_000)?.get('v1'), { requestsPerSecond: 0, proxies: 1 })
  })

  test('a pod without a current report does not count, and is forgotten later', () => {
    const rates = new TrafficRates()
    rates.note(reports(report(0)), 0)
    rates.note(reports(report(100)), 10_000)
    assert.equal(rates.note(new Map(), 20_000), undefined)
    assert.equal(rates.note(reports(report(100)), 3_600_000), undefined)
  })
})
