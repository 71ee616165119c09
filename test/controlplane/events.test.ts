import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ConfigMap, Event } from '../../src/kube/resources.ts'
import { createLogger, EventRecorder, RuntimeMetrics } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/runtime/fake-clock.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import { Faults, refusal } from '../faults.ts'

const { client, kubeconfig } = await sharedCluster()

async function stage(t: TestContext) {
  const ns = await namespace(t)
  const metadata = { namespace: ns, name: 'about' }
  const regarding = await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  const clock = new FakeClock()
  const metrics = new RuntimeMetrics(clock)
  const log = createLogger({ level: 'silent' })
  const faults = new Faults()
  const own = createClient(await configFromKubeconfig(kubeconfig), { interceptors: [faults.interceptor] })
  t.after(() => own.close())
  const who = { controller: 'test.example.com/events', instance: 'test-1' }
  const recorder = new EventRecorder({ client: own, clock, log, metrics, ...who, burst: 5, refillMs: 1_000 })
  const listed = async () => {
    await recorder.flush()
    const { items } = await client.list(Event, { namespace: ns })
    return items.filter((event) => event.regarding?.uid === regarding.metadata.uid)
  }
  return { ns, regarding, recorder, clock, metrics, listed, faults }
}

const said = (note: string) => ({ type: 'Normal', reason: 'Said', action: 'Say', note }) as const

describe('the event recorder', () => {
  test('writes an event that kubectl can show: who, what, about whom, when', async (t) => {
    const { ns, regarding, recorder, listed } = await stage(t)
    recorder.record(regarding, said('hello'))
    const [event] = await listed()
    assert.deepEqual(event?.regarding, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'about',
      namespace: ns,
      uid: regarding.metadata.uid,
    })
    const { type, reason, action, note, reportingController, reportingInstance } = event ?? {}
    assert.deepEqual(
      { type, reason, action, note, reportingController, reportingInstance },
      { ...said('hello'), reportingController: 'test.example.com/events', reportingInstance: 'test-1' },
    )
    assert.match(event?.eventTime ?? '', /\.\d{6}Z$/)
  })

  test('the same said again becomes a series, something else another event', async (t) => {
    const { regarding, recorder, listed } = await stage(t)
    for (let times = 0; times < 3; times++) recorder.record(regarding, said('again'))
    recorder.record(regarding, said('different'))
    const events = await listed()
    assert.deepEqual(events.map(({ note, series }) => `${note} ${series?.count ?? 'once'}`).toSorted(), [
      'again 3',
      'different once',
    ])
  })

  test('an object that talks too much is cut short, while its series go on counting', async (t) => {
    const { regarding, recorder, listed, clock, metrics } = await stage(t)
    recorder.record(regarding, said('series'))
    for (let number = 0; number < 20; number++) recorder.record(regarding, said(`number ${number}`))
    for (let times = 0; times < 50; times++) recorder.record(regarding, said('series'))
    assert.equal((await listed()).length, 5)
    assert.match(await metrics.registry.metrics(), /events_dropped_total\{cause="rate"\} 16/)
    clock.advance(1_000)
    recorder.record(regarding, said('series'))
    const series = (await listed()).find(({ note }) => note === 'series')
    assert.equal(series?.series?.count, 52)
  })

  test('a refusal costs the event and nothing else; a long note is cut to what the server takes', async (t) => {
    const { regarding, recorder, listed, metrics, faults } = await stage(t)
    faults.plan((call) => call.verb === 'create', refusal(403, 'Forbidden'))
    recorder.record(regarding, said('refused'))
    recorder.record(regarding, said('é'.repeat(2_000)))
    const events = await listed()
    assert.equal(events.length, 1)
    assert.ok(Buffer.byteLength(events[0]?.note ?? '') <= 1024)
    assert.match(await metrics.registry.metrics(), /events_dropped_total\{cause="refused"\} 1/)
  })

  test('after ten quiet minutes the same thing is news again', async (t) => {
    const { regarding, recorder, listed, clock } = await stage(t)
    recorder.record(regarding, said('now and then'))
    await recorder.flush()
    clock.advance(11 * 60_000)
    recorder.record(regarding, said('now and then'))
    assert.equal((await listed()).length, 2)
  })
})
