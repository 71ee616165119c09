/** A kind that the cluster has only some of the time, as those of a service mesh that is installed and removed. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { ConfigMap, CustomResourceDefinition } from '../../src/kube/resources.ts'
import { createLogger, Manager } from '../../src/runtime/index.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import { until } from '../until.ts'

const { kubeconfig } = await sharedCluster()
const cluster = await configFromKubeconfig(kubeconfig)
const client: Client = createClient(cluster)
after(() => client.close())

const POLL_MS = 100

function anyKind(): Resource {
  const kind = `Route${randomBytes(4).toString('hex')}`
  return { group: 'optional.example.com', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true }
}

function definitionOf({ group, version, kind, plural }: Resource): CustomResourceDefinition {
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

test('a kind that comes is watched, one that goes is forgotten, and every object is looked at both times', async (t) => {
  const ns = await namespace(t)
  const routes = anyKind()
  const lines: string[] = []
  const log = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
  const manager = new Manager({ name: 'test', connect: (own) => createClient(cluster, { interceptors: own }), log })
  const cache = manager.caches.of(routes, { namespace: ns, optional: { pollMs: POLL_MS } })
  const looks: (boolean | number)[] = []
  manager
    .controller('optional')
    .for(ConfigMap, { cache: { namespace: ns, labelSelector: 'primary' } })
    .watches(cache, () => [])
    .reconcile(async () => void looks.push(cache.isServed && cache.size))
  const stop = new AbortController()
  const run = manager.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await run
    await client.delete(CustomResourceDefinition, { name: definitionOf(routes).metadata.name })
  })

  await cache.synced
  assert.equal(cache.isServed, false)
  const metadata = { namespace: ns, name: 'model', labels: { primary: '' } }
  await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  await until('a look without the kind', () => looks.includes(false))

  const definition = await client.create(CustomResourceDefinition, definitionOf(routes))
  await until('a look with the kind', () => looks.includes(0))
  const route: KubeObject = {
    apiVersion: 'optional.example.com/v1',
    kind: routes.kind,
    metadata: { namespace: ns, name: 'r' },
  }
  await until('the route to be taken', () => client.create(routes, route))
  await until('the route to be seen', () => cache.get({ namespace: ns, name: 'r' }))

  looks.length = 0
  await client.delete(CustomResourceDefinition, { name: definition.metadata.name })
  await until('a look without the kind again', () => looks.includes(false))
  assert.equal(cache.size, 0)
  // A kind that is new, or going, may be too busy to be listed; that it is missing is no reason to complain.
  const complaints = lines.filter((line) => !line.includes('ApiThrottled'))
  assert.deepEqual(complaints, [])
})
