/** Pages of metrics: names, and what is refused with a reason. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { until } from '../../../test/timing/until.ts'
import type { ProgressReport } from '../../api/training-report.ts'
import { listen } from '../../net/listening.ts'
import { systemClock } from '../../runtime/index.ts'
import { ReportError } from '../report-body.ts'
import { MetricsReader } from './metrics.ts'
import { parseMetricsPage } from './metrics-page.ts'

const pages: readonly [string, ProgressReport][] = [
  ['epoch 3\ntotal_epochs 10\nloss 0.25\n', { epoch: 3, totalEpochs: 10, metrics: { loss: 0.25 } }],
  [
    '# TYPE training_step gauge\ntraining_step{job="a b",x="}"} 1.2e+03\ntraining_total_steps 4000\ntraining_lr 0.1\nlr 5',
    { step: 1200, totalSteps: 4000, metrics: { lr: 0.1 } },
  ],
  ['training_progress_percent 45.5 1700000000000\n', { percent: 45.5 }],
  ['loss 1\nloss 2\ntraining_loss 3\naccuracy NaN\nthroughput +Inf\n', { metrics: { loss: 1 } }],
  ['step -1\nepoch 1.5\ntraining_progress_percent 101\nloss 1', { metrics: { loss: 1 } }],
]
for (const [page, expected] of pages)
  test(page.split('\n').join(' | '), () => assert.deepEqual(parseMetricsPage(page), expected))

test('at most 32 metrics', () => {
  const page = Array.from({ length: 10_000 }, (_, index) => `training_m${index} 1`).join('\n')
  assert.equal(Object.keys(parseMetricsPage(page).metrics ?? {}).length, 32)
})

test('any page is parsed or refused', () => {
  fc.assert(
    fc.property(fc.string(), (noise) => {
      for (const page of [noise, `training_${noise} 1\n`, `loss{${noise}} ${noise}`])
        try {
          parseMetricsPage(page)
        } catch (error) {
          assert.ok(error instanceof ReportError)
        }
    }),
  )
})

describe('what is refused', () => {
  const served = async (t: TestContext, handler: RequestListener): Promise<number> => {
    const server = createServer(handler)
    const port = await listen(server, { port: 0, host: '127.0.0.1' })
    t.after(() => server.closeAllConnections())
    t.after(() => server.close())
    return port
  }

  async function problemWith(t: TestContext, handler: RequestListener, pod = {}): Promise<string> {
    const port = await served(t, handler)
    const stop = new AbortController()
    const problems: string[] = []
    const reader = new MetricsReader({ clock: systemClock, intervalMs: 5, timeoutMs: 300 })
    const at = { namespace: 'a', name: 'p', uid: 'u', container: 'c', ip: '127.0.0.1', ...pod }
    const emit = {
      report: () => assert.fail('a report'),
      problem: (reason?: string) => void problems.push(reason ?? ''),
    }
    const done = reader.read({ pod: at, metrics: { port, path: '/metrics' } }, emit, stop.signal)
    await until('a problem', () => problems.length > 0)
    stop.abort()
    await done
    return problems[0]?.replace(String(port), '1') ?? ''
  }

  const from = 'spec.progress.metrics: cannot read port 1, path /metrics of pod p: '
  const cases: readonly [string, RequestListener, string][] = [
    [
      '10 MB',
      (_, response) => response.end(Buffer.alloc(10_000_000, 'loss 1\n')),
      'the page is larger than 1048576 bytes',
    ],
    ['404', (_, response) => response.writeHead(404).end(), 'the response is 404, not 200'],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: '/other' }).end(),
      'the response is 302, not 200',
    ],
    ['no response', () => undefined, 'no complete page within 300 ms'],
    [
      'compressed',
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'the page is compressed',
    ],
  ]
  for (const [name, handler, reason] of cases)
    test(name, async (t) => assert.equal(await problemWith(t, handler), `${from}${reason}`))

  test('garbage', async (t) => {
    const problem = await problemWith(t, (_, response) => response.end(Buffer.alloc(1_000_000, 0xfe)))
    assert.match(problem, /the page has no sample named epoch, /)
  })

  test('a pod with the network of its node', async (t) => {
    const problem = await problemWith(t, () => assert.fail('a request'), { isHostNetwork: true })
    assert.match(problem, /remove hostNetwork$/)
  })
})
