import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ConfigMap, Event } from '../../src/kube/resources.ts'
import { createLogger, EventRecorder, RuntimeMetrics } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/runtime/fake-clock.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { Faults, errorResponse } from '../client/faults.ts'

const { client, kubeconfig } = await sharedCluster()

async function setUp(t: TestContext) {
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

const eventOf = (note: string) => ({ type: 'Normal', reason: 'Tested', action: 'Test', note }) as const

describe('the event recorder', () => {
  test('writes an event that kubectl can show', async (t) => {
    const { ns, regarding, recorder, listed } = await setUp(t)
    recorder.record(regarding, eventOf('hello'))
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
      { ...eventOf('hello'), reportingController: 'test.example.com/events', reportingInstance: 'test-1' },
    )
    assert.match(event?.eventTime ?? '', /\.\d{6}Z$/)
  })

  test('counts a repeated event in a series', async (t) => {
    const { regarding, recorder, listed } = await setUp(t)
    for (let times = 0; times < 3; times++) recorder.record(regarding, eventOf('again'))
    recorder.record(regarding, eventOf('different'))
    const events = await listed()
    assert.deepEqual(events.map(({ note, series }) => `${note} ${series?.count ?? 'once'}`).toSorted(), [
      'again 3',
      'different once',
    ])
  })

  test('limits the events of an object, while series keep counting', async (t) => {
    const { regarding, recorder, listed, clock, metrics } = await setUp(t)
    recorder.record(regarding, eventOf('series'))
    for (let number = 0; number < 20; number++) recorder.record(regarding, eventOf(`number ${number}`))
    for (let times = 0; times < 50; times++) recorder.record(regarding, eventOf('series'))
    const sent = await listed()
    assert.equal(sent.length, 5)
    assert.equal(sent.find(({ note }) => note === 'series')?.series, undefined)
    assert.match(await metrics.registry.metrics(), /events_dropped_total\{cause="rate"\} 16/)
    clock.advance(1_000)
    recorder.record(regarding, eventOf('series'))
    const series = (await listed()).find(({ note }) => note === 'series')
    assert.equal(series?.series?.count, 52)
  })

  test('drops an event that is rejected, and truncates a long note', async (t) => {
    const { regarding, recorder, listed, metrics, faults } = await setUp(t)
    faults.plan((call) => call.verb === 'create', errorResponse(403, 'Forbidden'))
    recorder.record(regarding, eventOf('refused'))
    recorder.record(regarding, eventOf('é'.repeat(2_000)))
    const events = await listed()
    assert.equal(events.length, 1)
    assert.ok(Buffer.byteLength(events[0]?.note ?? '') <= 1024)
    assert.match(await metrics.registry.metrics(), /events_dropped_total\{cause="refused"\} 1/)
  })

  test('starts a new event after ten minutes', async (t) => {
    const { regarding, recorder, listed, clock } = await setUp(t)
    recorder.record(regarding, eventOf('now and then'))
    await recorder.flush()
    clock.advance(11 * 60_000)
    recorder.record(regarding, eventOf('now and then'))
    assert.equal((await listed()).length, 2)
  })
})
