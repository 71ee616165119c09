import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Client } from '../../src/kube/client.ts'
import { keyOf, type KubeObject } from '../../src/kube/object.ts'
import { ConfigMap, Event } from '../../src/kube/resources.ts'
import type { Widget } from '../cluster/widget.ts'
import { client, CommitFixture, configMap, plan, service, widgets } from '../fixtures/commit.ts'

describe('commit', () => {
  test('a status from a stale owner conflicts instead of overwriting', async (t) => {
    const fixture = await CommitFixture.start(t)
    const stale = await fixture.widget()
    await fixture.pass({ status: { phase: 'Newer' } })
    const call = { client: fixture.manager.client, signal: AbortSignal.timeout(30_000) }
    await assert.rejects(fixture.commit(stale, plan({ status: { phase: 'Older' } }), call), { reason: 'Conflict' })
    assert.equal((await client.get(widgets, keyOf(stale))).status?.phase, 'Newer')
  })

  test('removes omitted status fields, and keeps lastTransitionTime while a condition has the same status', async (t) => {
    const fixture = await CommitFixture.start(t)
    const owner = await fixture.widget()
    const condition = { type: 'Ready', status: 'True', reason: 'Up', message: 'one' } as const
    await fixture.pass({ status: { phase: 'Running', count: 1, conditions: [condition] } })
    const first = (await client.get(widgets, keyOf(owner))).status?.conditions?.[0]?.lastTransitionTime
    assert.match(first ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    await fixture.pass({ status: { phase: 'Running', conditions: [{ ...condition, message: 'two' }] } })
    const { status } = await client.get(widgets, keyOf(owner))
    assert.deepEqual(status, {
      phase: 'Running',
      conditions: [{ ...condition, message: 'two', lastTransitionTime: first }],
    })
  })

  test('emits an event once, after the status that explains it', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    const started = { type: 'Normal', reason: 'Started', note: 'all workers run' } as const
    for (let pass = 0; pass < 3; pass++) await fixture.pass({ status: { phase: 'Running' }, events: [started] })
    await fixture.manager.recorder.flush()
    const { items } = await client.list(Event, { namespace: fixture.namespace })
    const ours = items.filter(({ regarding }) => regarding?.kind === 'Widget')
    assert.deepEqual(
      ours.map(({ reason, note, series }) => ({ reason, note, series })),
      [{ reason: 'Started', note: 'all workers run', series: undefined }],
    )
  })

  test('writes no status after a rejected child', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    const broken = { ...service('s'), spec: { ports: [{ port: 99_999 }] } } as KubeObject
    await assert.rejects(fixture.pass({ apply: [broken], status: { phase: 'Ready' } }), { code: 422 })
    assert.deepEqual(await fixture.audit.take(), ['apply services/s 422'])
  })

  test('completes the plan in the next pass after a crash at any write', async (t) => {
    const fixture = await CommitFixture.start(t)
    await fixture.widget()
    await fixture.pass({ apply: [configMap('old')] })
    await fixture.settled()
    const old = fixture.manager.caches.of(ConfigMap).get({ namespace: fixture.namespace, name: 'old' }) as ConfigMap
    await fixture.audit.take()
    const target = { apply: [configMap('c'), service('s')], status: { phase: 'Ready' } }
    for (let survived = 0; survived <= 4; survived++) {
      const crash = new AbortController()
      const crashing = crashingClient(fixture.manager.client, survived, crash)
      await fixture.settled()
      const owner = fixture.manager.caches.of(widgets).get({ namespace: fixture.namespace, name: 'w' }) as Widget
      const graceful = fixture.manager.caches.of(ConfigMap).get(keyOf(old)) ? [old] : []
      const committed = fixture.commit(owner, plan({ ...target, graceful }), { client: crashing, signal: crash.signal })
      if (survived < 4) await assert.rejects(committed)
      else await committed
    }
    const successes = await fixture.audit.take()
    assert.deepEqual(successes.toSorted(), [
      'apply configmaps/c 201',
      'apply services/s 201',
      'delete configmaps/old 200',
      'patch widgets/w/status 200',
    ])
  })
})

/** A client that crashes before its first write if `writes` is 0, otherwise right after one write. */
function crashingClient(inner: Client, writes: number, crash: AbortController): Client {
  let left = writes === 0 ? 0 : 1
  return new Proxy(inner, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
      if (!['apply', 'patch', 'delete', 'create'].includes(String(name))) return method.bind(target)
      return async (...args: unknown[]) => {
        if (left === 0 && writes < 4) {
          crash.abort()
          throw new Error('crashed')
        }
        left -= 1
        return method.apply(target, args)
      }
    },
  })
}
