import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig, fixedCredential } from '../../src/kube/config.ts'
import { isExpired, isNotFound } from '../../src/kube/errors.ts'
import { type KubeObject, keyOf, type Resource } from '../../src/kube/object.ts'
import { parseQuantity } from '../../src/kube/quantity.ts'
import { ConfigMap, Event, Lease, Namespace, Pod, PodDisruptionBudget } from '../../src/kube/resources.ts'
import { microTime } from '../../src/kube/time.ts'
import { faultProxy } from '../../testenv/fault-proxy.ts'
import { configMap, pendingPod as pod } from '../builders/objects.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'
import { installWidgets } from '../cluster/widget.ts'

const { kubeconfig, client } = await sharedCluster()

/** A kind that stores a quantity unchanged; resources of pods are rounded to a thousandth. */
const capacities: Resource<KubeObject & { readonly storageClassName: string; readonly capacity: string }> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  namespaced: true,
}

describe('an eviction', () => {
  async function guarded(t: TestContext, minAvailable: number): Promise<Pod> {
    const ns = await namespace(t)
    const made = await client.create(Pod, pod(ns, 'p'))
    const condition = { type: 'Ready', status: 'True' }
    const status = { phase: 'Running', conditions: [condition] }
    await client.patch(Pod, keyOf(made), { status }, { subresource: 'status' })
    const budget = await client.create(PodDisruptionBudget, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace: ns, name: 'p' },
      spec: { minAvailable, selector: { matchLabels: { app: 'p' } } },
    })
    await until('the budget to count the pod', async () => {
      const { status: counted } = await client.get(PodDisruptionBudget, keyOf(budget))
      return counted?.currentHealthy === 1 && counted.disruptionsAllowed === 1 - minAvailable
    })
    return made
  }

  test('is rejected by a disruption budget without retries', async (t) => {
    const made = await guarded(t, 1)
    await assert.rejects(client.evict(keyOf(made)), { code: 429, reason: 'TooManyRequests' })
  })

  test('deletes the pod when the budget allows, and resolves when it is gone', async (t) => {
    const made = await guarded(t, 0)
    await client.evict(keyOf(made), { uid: made.metadata.uid ?? '', gracePeriodSeconds: 0 })
    await assert.rejects(client.get(Pod, keyOf(made)), isNotFound)
    await client.evict(keyOf(made))
  })
})

describe('lists', () => {
  test('are paged or whole, selected by label and field', async (t) => {
    const ns = await namespace(t)
    const names = Array.from({ length: 25 }, (_, index) => `n${index}`)
    await Promise.all(
      names.map((name, index) => {
        const object = configMap(ns, name)
        const labels = { parity: index % 2 === 0 ? 'even' : 'odd' }
        return client.create(ConfigMap, { ...object, metadata: { ...object.metadata, labels } })
      }),
    )
    const even = await client.list(ConfigMap, { namespace: ns, labelSelector: 'parity=even', limit: 5 })
    assert.equal(even.items.length, 13)
    assert.equal(even.items[0]?.kind, 'ConfigMap')
    const one = await client.list(ConfigMap, { namespace: ns, fieldSelector: 'metadata.name=n3' })
    assert.deepEqual(
      one.items.map(({ metadata }) => metadata.name),
      ['n3'],
    )
    const sizes: number[] = []
    for await (const page of client.pages(ConfigMap, { namespace: ns, labelSelector: 'parity', limit: 10 })) {
      sizes.push(page.items.length)
    }
    assert.deepEqual(sizes, [10, 10, 5])
  })

  test('reject an impossible resourceVersion', async () => {
    const far = { resourceVersion: '999999999999', resourceVersionMatch: 'Exact', timeoutMs: 1_000 } as const
    await assert.rejects(client.list(Namespace, far))
  })
})

describe('a raw watch', () => {
  test('from an old resourceVersion is rejected as expired', async () => {
    // The server has no history of a kind before it was installed, so a new kind has none at version 1.
    const Widget = await installWidgets()
    await assert.rejects(
      async () => {
        for await (const event of client.openWatch(Widget, { resourceVersion: '1' })) {
          if (event.type === 'ERROR') throw Object.assign(new Error(event.object.message), event.object)
          return
        }
      },
      (error: { code: number }) => isExpired(error) || error.code === 410,
    )
  })

  test('ends after timeoutSeconds', async (t) => {
    const ns = await namespace(t)
    for await (const event of client.openWatch(ConfigMap, { namespace: ns, timeoutSeconds: 1 })) {
      assert.notEqual(event.type, 'ERROR')
    }
  })
})

describe('times and quantities', () => {
  test('a Lease and an Event accept our MicroTime', async (t) => {
    const ns = await namespace(t)
    const now = microTime(new Date())
    const lease = await client.create(Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: ns, name: 'l' },
      spec: { holderIdentity: 'me', acquireTime: now, renewTime: now, leaseDurationSeconds: 15 },
    })
    assert.equal(lease.spec?.renewTime, now)
    const event = await client.create(Event, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: ns, name: 'e' },
      eventTime: now,
      action: 'Test',
      reason: 'Tested',
      type: 'Normal',
      reportingController: 'example.com/test',
      reportingInstance: 'here',
      regarding: { kind: 'Lease', namespace: ns, name: 'l' },
    })
    assert.equal(event.eventTime, now)
  })

  test('a quantity has the same value for the server and for us', async (t) => {
    const ns = await namespace(t)
    const texts = [
      '1.5Gi',
      '1u',
      '0.1n',
      '0.0000000001',
      '1e-12',
      '12e-3',
      '1E3',
      '1E',
      '1Ei',
      '.5',
      '5.',
      '+3',
      '1.0001Ki',
    ]
    for (const text of texts) {
      const metadata = { namespace: ns, name: 'q' }
      const given = { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', metadata, storageClassName: 'any' }
      const { capacity } = await client.create(capacities, { ...given, capacity: text }, { dryRun: true })
      assert.equal(parseQuantity(capacity).nano, parseQuantity(text).nano, `${text} became ${capacity}`)
    }
    for (const text of ['', 'abc', '1K', '1GiB', '1 Gi', '--1', '1e1.5', '1.2.3']) {
      const bad = pod(ns, 'q', text)
      await assert.rejects(client.create(Pod, bad, { dryRun: true }), { code: 400 }, text)
      assert.throws(() => parseQuantity(text), RangeError, text)
    }
  })
})

describe('identity', () => {
  test('an unknown token is 401, no token is 403', async () => {
    const config = await configFromKubeconfig(kubeconfig)
    for (const [credential, code] of [
      [{ token: 'forged' }, 401],
      [{}, 403],
    ] as const) {
      const stranger = createClient({ ...config, credentials: fixedCredential(credential) })
      await assert.rejects(stranger.list(Pod), { code })
      await stranger.close()
    }
  })

  test('a call that no role allows is forbidden', async (t) => {
    const ns = await namespace(t)
    const accounts: Resource = {
      group: '',
      version: 'v1',
      kind: 'ServiceAccount',
      plural: 'serviceaccounts',
      namespaced: true,
    }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace: ns, name: 'default' },
      spec: { expirationSeconds: 600 },
    }
    const answer = (await client.create(accounts, request, { subresource: 'token' })) as unknown as {
      status: { token: string }
    }
    const config = await configFromKubeconfig(kubeconfig)
    const account = createClient({ ...config, credentials: fixedCredential({ token: answer.status.token }) })
    t.after(() => account.close())
    await assert.rejects(account.list(Pod, { namespace: ns }), { code: 403 })
  })
})

describe('raw requests', () => {
  test('return health as text and discovery as JSON', async () => {
    assert.equal(await client.request({ method: 'GET', path: '/readyz' }), 'ok')
    const { kind } = (await client.request({ method: 'GET', path: '/apis' })) as { kind: string }
    assert.equal(kind, 'APIGroupList')
  })
})

describe('a bad connection', () => {
  test('that was cut and restored does not fail reads', async (t) => {
    const config = await configFromKubeconfig(kubeconfig)
    const proxy = await faultProxy(config.server)
    const distant = createClient({ ...config, server: proxy.server })
    t.after(async () => {
      await distant.close()
      await proxy.close()
    })
    await distant.list(Namespace)
    proxy.cut()
    const call = distant.list(Namespace)
    setTimeout(() => proxy.restore(), 150)
    assert.ok((await call).items.length > 0)
  })
})
