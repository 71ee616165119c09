import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { FakeClock } from './fake-clock.ts'
import { Health } from './health.ts'
import { RuntimeMetrics } from './metrics.ts'
import { serve } from './server.ts'

async function running(t: { after(stop: () => Promise<void>): void }) {
  const health = new Health()
  const metrics = new RuntimeMetrics(new FakeClock())
  const server = await serve({ port: 0, host: '127.0.0.1', health, metrics })
  t.after(() => server.close())
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
    return { status: response.status, body: await response.text() }
  }
  return { health, metrics, get, port: server.port }
}

test('health pages name the problem, also if a check throws', async (t) => {
  const { health, get } = await running(t)
  health.addReadyCheck('caches', () => 'waiting for Pod')
  health.addReadyCheck('broken', () => {
    throw new Error('boom')
  })
  assert.deepEqual(await get('/healthz'), { status: 200, body: 'ok\n' })
  const body = '[-]caches waiting for Pod\n[-]broken check threw: Error: boom\nnot ok\n'
  assert.deepEqual(await get('/readyz?verbose'), { status: 503, body })
  health.addReadyCheck('caches', () => undefined)
  health.addReadyCheck('broken', () => undefined)
  assert.deepEqual(await get('/readyz'), { status: 200, body: '[+]caches ok\n[+]broken ok\nok\n' })
  assert.equal((await get('/')).status, 404)
})

test('metrics are served in the format of Prometheus, with gauges read at the scrape', async (t) => {
  const { metrics, get } = await running(t)
  let size = 1
  metrics.gauge({ name: 'cache_objects', help: 'x', labelNames: ['kind'] }, () => [[{ kind: 'Pod' }, size]])
  size = 42
  metrics.queueWaited('jobs', 20)
  const { body } = await get('/metrics')
  assert.match(body, /^cache_objects\{kind="Pod"\} 42$/m)
  assert.match(body, /^workqueue_wait_seconds_sum\{controller="jobs"\} 0\.02$/m)
})

test('every call is counted by verb, kind and code, also without a response', async () => {
  const metrics = new RuntimeMetrics(new FakeClock())
  const call = { verb: 'get', method: 'GET', path: '/x', stream: false, attempt: 1, timeoutMs: 1_000 } as const
  await metrics.interceptor(call, async () => ({ status: 404, headers: {}, body: '' }))
  await assert.rejects(
    metrics.interceptor(call, () => Promise.reject(new Error('reset'))),
    /reset/,
  )
  const page = await metrics.registry.metrics()
  assert.match(page, /kube_requests_total\{verb="get",kind="none",code="404"\} 1/)
  assert.match(page, /kube_requests_total\{verb="get",kind="none",code="none"\} 1/)
})

test('the event loop is monitored until the monitor stops', async () => {
  const metrics = new RuntimeMetrics()
  const end = metrics.monitorEventLoop()
  assert.match(await metrics.registry.metrics(), /event_loop_delay_seconds\{quantile="0\.99"\} /)
  end()
})

test('concurrent scrapes share one page', async (t) => {
  const { metrics, port } = await running(t)
  let made = 0
  metrics.gauge({ name: 'pages_made', help: 'x', labelNames: [] }, () => [[{}, ++made]])
  const socket = connect(port, '127.0.0.1')
  // Without ending its side: the server would not answer a client that has closed.
  const request = 'GET /metrics HTTP/1.1\r\nhost: x\r\n'
  socket.write(`${`${request}\r\n`.repeat(19)}${request}connection: close\r\n\r\n`)
  assert.equal((await text(socket)).match(/^pages_made 1$/gm)?.length, 20)
})

test('a path that is not a URL is not found', async (t) => {
  const { port } = await running(t)
  const socket = connect(port, '127.0.0.1')
  socket.end('GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 404 /)
})
