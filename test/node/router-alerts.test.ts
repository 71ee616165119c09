/** The alerts about requests: a model server that fails and one that is slow, behind a real router and a real Prometheus. */
import { test } from 'node:test'
import { missingForPrometheus } from '../../testenv/prometheus.ts'
import { routerFixture } from '../fixtures/router.ts'
import { alertsOf } from '../monitoring/fired-alerts.ts'
import { startPrometheus } from '../monitoring/prometheus.ts'
import { until } from '../timing/until.ts'

const missing = missingForPrometheus()
const skip = missing.length > 0 && `Prometheus needs ${missing.join(', ')}`

test('a model server that fails, and one that is slow, make the alerts fire', { skip }, async (t) => {
  const router = await routerFixture(t)
  await router.version('v1')
  await router.shiftTo([['v1', 100]])
  const labels = { namespace: 'team-a', model: 'sentiment' }
  const prometheus = await startPrometheus([{ job: 'router', address: router.pageAddress, labels }])
  t.after(() => prometheus.stop())
  await until('the router to be scraped', async () => (await prometheus.count('model_router_requests_total')) === 1)
  const stop = new AbortController()
  const asking = askUntil(stop.signal, router.url)
  for (const alert of alertsOf(import.meta.filename))
    await until(`${alert} to fire`, async () => (await prometheus.firing()).has(alert))
  stop.abort()
  await asking
})

/** Sends requests that fail and requests that are slow, one after the other. */
async function askUntil(signal: AbortSignal, url: string): Promise<void> {
  while (!signal.aborted) for (const path of ['/fail', '/very-slow']) await fetch(`${url}${path}`)
}
