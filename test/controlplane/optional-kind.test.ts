/** A kind that is installed and removed while the operator runs, as those of a service mesh. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test, type TestContext } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { ConfigMap, CustomResourceDefinition } from '../../src/kube/resources.ts'
import { createLogger, Manager } from '../../src/runtime/index.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'

const { kubeconfig } = await sharedCluster()
const cluster = await configFromKubeconfig(kubeconfig)
const client: Client = createClient(cluster)
after(() => client.close())

const POLL_MS = 100

function anyKind(): Resource {
  const kind = `Route${randomBytes(4).toString('hex')}`
  return { group: 'optional.example.com', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true }
}

function crdOf({ group, version, kind, plural }: Resource): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

/** A manager with one controller that records the size of the optional cache at each reconcile; false while not served. */
function startManager(t: TestContext, ns: string, optional: Resource) {
  const lines: string[] = []
  const log = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
  const manager = new Manager({ name: 'test', connect: (own) => createClient(cluster, { interceptors: own }), log })
  const cache = manager.caches.of(optional, { namespace: ns, optional: { pollMs: POLL_MS } })
  const sizes: (boolean | number)[] = []
  manager
    .controller('optional')
    .for(ConfigMap, { cache: { namespace: ns, labelSelector: 'primary' } })
    .watches(cache, () => [])
    .reconcile(async () => void sizes.push(cache.isServed && cache.size))
  const stop = new AbortController()
  const run = manager.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await run
  })
  return { cache, sizes, lines }
}

test('watches a kind that appears, forgets one that disappears, and reconciles every object both times', async (t) => {
  const ns = await namespace(t)
  const routes = anyKind()
  const { cache, sizes, lines } = startManager(t, ns, routes)
  t.after(() => client.delete(CustomResourceDefinition, { name: crdOf(routes).metadata.name }))
  await cache.synced
  assert.equal(cache.isServed, false)
  const metadata = { namespace: ns, name: 'model', labels: { primary: '' } }
  await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  await until('a reconcile without the kind', () => sizes.includes(false))

  const crd = await client.create(CustomResourceDefinition, crdOf(routes))
  await until('a reconcile with the kind', () => sizes.includes(0))
  const route: KubeObject = {
    apiVersion: 'optional.example.com/v1',
    kind: routes.kind,
    metadata: { namespace: ns, name: 'r' },
  }
  await until('the route to be accepted', () => client.create(routes, route))
  await until('the route to be seen', () => cache.get({ namespace: ns, name: 'r' }))

  sizes.length = 0
  await client.delete(CustomResourceDefinition, { name: crd.metadata.name })
  await until('a reconcile without the kind again', () => sizes.includes(false))
  assert.equal(cache.size, 0)
  // A list of a kind that is being installed or removed may be throttled. A missing kind is no reason for a warning.
  const warnings = lines.filter((line) => !line.includes('ApiThrottled'))
  assert.deepEqual(warnings, [])
})
