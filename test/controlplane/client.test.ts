import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig, fixedCredential } from '../../src/kube/config.ts'
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isFieldConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from '../../src/kube/errors.ts'
import { type KubeObject, keyOf, type Resource } from '../../src/kube/object.ts'
import { formatQuantity, parseQuantity } from '../../src/kube/quantity.ts'
import { ConfigMap, Deployment, Event, Lease, Namespace, Pod, PodDisruptionBudget } from '../../src/kube/resources.ts'
import { microTime } from '../../src/kube/time.ts'
import { faultProxy } from '../../testenv/fault-proxy.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import { until } from '../until.ts'
import { installWidgets } from '../widget.ts'

const { kubeconfig, client } = await sharedCluster()

/** A kind that takes a quantity as it is; resources of pods are rounded to a thousandth. */
const capacities: Resource<KubeObject & { readonly storageClassName: string; readonly capacity: string }> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  namespaced: true,
}

function configMap(ns: string, name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: ns, name }, data }
}

/** Bound to no node, so that it stays as it is. */
function pod(ns: string, name: string, memory = '64Mi'): Pod {
  const container = { name: 'main', image: 'none', resources: { requests: { memory } } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: ns, name, labels: { app: name } },
    spec: { schedulerName: 'nobody', containers: [container] },
  }
}

describe('objects', () => {
  test('are created once', async (t) => {
    const ns = await namespace(t)
    const made = await client.create(ConfigMap, configMap(ns, 'a', { x: '1' }))
    assert.ok(made.metadata.uid)
    await assert.rejects(client.create(ConfigMap, configMap(ns, 'a')), isAlreadyExists)
    assert.deepEqual(await client.get(ConfigMap, keyOf(made)), made)
  })

  test('keep fields no type knows of, and times as text', async (t) => {
    const ns = await namespace(t)
    const { metadata } = await client.create(ConfigMap, configMap(ns, 'a', { x: '1' }))
    assert.equal(typeof metadata.creationTimestamp, 'string')
    assert.ok('managedFields' in metadata)
  })

  test('are created by generated name', async (t) => {
    const ns = await namespace(t)
    const unnamed = { ...configMap(ns, ''), metadata: { namespace: ns, generateName: 'gen-' } } as unknown as ConfigMap
    assert.match((await client.create(ConfigMap, unnamed)).metadata.name, /^gen-/)
  })

  test('are replaced only in the version that was read', async (t) => {
    const ns = await namespace(t)
    const first = await client.create(ConfigMap, configMap(ns, 'a'))
    const second = await client.update(ConfigMap, { ...first, data: { x: '2' } })
    assert.equal(second.data?.['x'], '2')
    await assert.rejects(client.update(ConfigMap, { ...first, data: { x: '3' } }), isConflict)
  })

  test('are patched field by field, and only if unchanged when asked', async (t) => {
    const ns = await namespace(t)
    const first = await client.create(ConfigMap, configMap(ns, 'a', { x: '1', y: '1' }))
    const patched = await client.patch(ConfigMap, keyOf(first), { data: { x: '2', y: null } })
    assert.deepEqual(patched.data, { x: '2' })
    const { resourceVersion } = first.metadata
    await assert.rejects(client.patch(ConfigMap, keyOf(first), { metadata: { resourceVersion } }), isConflict)
  })

  test('are patched by many at once without one patch being lost', async (t) => {
    const ns = await namespace(t)
    const { metadata } = await client.create(ConfigMap, configMap(ns, 'a'))
    const names = Array.from({ length: 50 }, (_, index) => `k${index}`)
    await Promise.all(
      names.map((name) => client.patch(ConfigMap, { namespace: ns, name: 'a' }, { data: { [name]: '1' } })),
    )
    const { data } = await client.get(ConfigMap, { namespace: ns, name: metadata.name })
    assert.deepEqual(Object.keys(data ?? {}).toSorted(), names.toSorted())
  })

  test('are applied: created, changed, and relieved of what is no longer given', async (t) => {
    const ns = await namespace(t)
    const first = await client.apply(ConfigMap, configMap(ns, 'a', { x: '1', y: '1' }))
    const second = await client.apply(ConfigMap, configMap(ns, 'a', { x: '2' }))
    assert.deepEqual(second.data, { x: '2' })
    const third = await client.apply(ConfigMap, configMap(ns, 'a', { x: '2' }))
    assert.equal(third.metadata.resourceVersion, second.metadata.resourceVersion, 'nothing changed, nothing written')
    assert.notEqual(first.metadata.resourceVersion, second.metadata.resourceVersion)
  })

  test('belong field by field to their manager, unless forced', async (t) => {
    const ns = await namespace(t)
    await client.apply(ConfigMap, configMap(ns, 'a', { x: 'mine' }))
    const theirs = configMap(ns, 'a', { x: 'theirs' })
    await assert.rejects(client.apply(ConfigMap, theirs, { fieldManager: 'other' }), isFieldConflict)
    const forced = await client.apply(ConfigMap, theirs, { fieldManager: 'other', force: true })
    assert.equal(forced.data?.['x'], 'theirs')
  })

  test('are only tried out by a dry run', async (t) => {
    const ns = await namespace(t)
    await client.create(ConfigMap, configMap(ns, 'a'), { dryRun: true })
    await assert.rejects(client.get(ConfigMap, { namespace: ns, name: 'a' }), isNotFound)
    const made = await client.create(ConfigMap, configMap(ns, 'a'))
    await client.delete(ConfigMap, keyOf(made), { dryRun: true })
    assert.equal((await client.get(ConfigMap, keyOf(made))).metadata.uid, made.metadata.uid)
  })

  test('have a status that is written apart', async (t) => {
    const ns = await namespace(t)
    const made = await client.create(Pod, pod(ns, 'p'))
    const patched = await client.patch(Pod, keyOf(made), { status: { message: 'seen' } }, { subresource: 'status' })
    assert.equal(patched.status?.message, 'seen')
    const status = await client.get(Pod, keyOf(made), { subresource: 'status' })
    assert.equal(status.status?.message, 'seen')
  })

  test('that break the rules are refused with the field', async (t) => {
    const ns = await namespace(t)
    const bad = pod(ns, 'p')
    await assert.rejects(client.create(Pod, { ...bad, spec: { containers: [] } }), (error) => {
      assert.ok(isInvalid(error))
      assert.equal(error.details?.causes?.[0]?.field, 'spec.containers')
      return true
    })
  })
})

describe('a delete', () => {
  test('resolves when there is nothing left to delete', async (t) => {
    const ns = await namespace(t)
    await client.delete(ConfigMap, { namespace: ns, name: 'never' })
  })

  test('spares an object of the same name that is another', async (t) => {
    const ns = await namespace(t)
    const old = await client.create(ConfigMap, configMap(ns, 'a'))
    await client.delete(ConfigMap, keyOf(old), { uid: old.metadata.uid ?? '' })
    const young = await client.create(ConfigMap, configMap(ns, 'a'))
    await assert.rejects(client.delete(ConfigMap, keyOf(old), { uid: old.metadata.uid ?? '' }), isConflict)
    assert.equal((await client.get(ConfigMap, keyOf(old))).metadata.uid, young.metadata.uid)
  })

  test('spares an object that was changed', async (t) => {
    const ns = await namespace(t)
    const old = await client.create(ConfigMap, configMap(ns, 'a'))
    await client.patch(ConfigMap, keyOf(old), { data: { x: '1' } })
    const { resourceVersion = '' } = old.metadata
    await assert.rejects(client.delete(ConfigMap, keyOf(old), { resourceVersion }), isConflict)
  })

  test('passes its propagation on', async (t) => {
    const ns = await namespace(t)
    const spec = {
      selector: { matchLabels: { app: 'd' } },
      replicas: 0,
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'main', image: 'none' }] } },
    }
    const made = await client.create(Deployment, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: ns, name: 'd', finalizers: ['example.com/hold'] },
      spec,
    })
    await client.delete(Deployment, keyOf(made), { propagationPolicy: 'Foreground' })
    assert.ok((await finalizersAtDeletion(made)).includes('foregroundDeletion'))
    await client.patch(Deployment, keyOf(made), { metadata: { finalizers: null } })
  })
})

/** What the object was held by at the moment it was deleted; the garbage collector changes that soon after. */
async function finalizersAtDeletion({ metadata }: Deployment): Promise<readonly string[]> {
  const { namespace: ns = '', resourceVersion = '' } = metadata
  for await (const event of client.openWatch(Deployment, { namespace: ns, resourceVersion, timeoutSeconds: 60 })) {
    if (event.type !== 'MODIFIED' || event.object.metadata.deletionTimestamp === undefined) continue
    return event.object.metadata.finalizers ?? []
  }
  return []
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

  test('is refused by a disruption budget, and said so at once', async (t) => {
    const made = await guarded(t, 1)
    await assert.rejects(client.evict(keyOf(made)), { code: 429, reason: 'TooManyRequests' })
  })

  test('deletes the pod when the budget allows, and is content when it is gone', async (t) => {
    const made = await guarded(t, 0)
    await client.evict(keyOf(made), { uid: made.metadata.uid ?? '', gracePeriodSeconds: 0 })
    await assert.rejects(client.get(Pod, keyOf(made)), isNotFound)
    await client.evict(keyOf(made))
  })
})

describe('lists', () => {
  test('come in pages and whole, selected by label and field', async (t) => {
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

  test('of a version that cannot be, say so', async () => {
    const far = { resourceVersion: '999999999999', resourceVersionMatch: 'Exact', timeoutMs: 1_000 } as const
    await assert.rejects(client.list(Namespace, far))
  })
})

describe('a raw watch', () => {
  test('from a version too old is refused as expired', async () => {
    // The server knows the history of a kind from when it began to serve it, so a new kind has none at version 1.
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

  test('ends when the server was asked to end it', async (t) => {
    const ns = await namespace(t)
    for await (const event of client.openWatch(ConfigMap, { namespace: ns, timeoutSeconds: 1 })) {
      assert.notEqual(event.type, 'ERROR')
    }
  })
})

describe('times and quantities', () => {
  test('a Lease and an Event take our MicroTime', async (t) => {
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

  test('a quantity means the same to the server and to us', async (t) => {
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

  test('a quantity is written as the server writes one it has computed', async (t) => {
    const ns = await namespace(t)
    for (const text of [
      '1.5Gi',
      '100m',
      '1e3',
      '12e-3',

      '1000m',
      '1000k',
      '0.5Ki',
      '1024Mi',
      '1024',

      '0',
      '.5',
    ]) {
      const made = await client.create(Pod, pod(ns, 'q', text), { dryRun: true })
      const stored = made.spec?.containers[0]?.resources?.requests?.['memory'] as string
      assert.equal(formatQuantity(parseQuantity(text)), stored, text)
    }
  })
})

describe('identity', () => {
  test('a token that nobody issued is 401, no token at all is 403', async () => {
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

  test('what a role does not allow is forbidden', async (t) => {
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
    await assert.rejects(account.list(Pod, { namespace: ns }), isForbidden)
  })
})

describe('anything else', () => {
  test('can be asked for: health as text, discovery as JSON', async () => {
    assert.equal(await client.request({ method: 'GET', path: '/readyz' }), 'ok')
    const { kind } = (await client.request({ method: 'GET', path: '/apis' })) as { kind: string }
    assert.equal(kind, 'APIGroupList')
  })
})

describe('a bad connection', () => {
  test('that was cut and came back is not noticed by reads', async (t) => {
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
