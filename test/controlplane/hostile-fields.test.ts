/**
 * A tenant tries every field that has a text: with addresses inside of the cluster and of the operator's host, and with names
 * of another tenant's objects. The operator serves all namespaces, runs as its ServiceAccount, and its connections and
 * requests are recorded.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ApiError } from '../../src/kube/errors.ts'
import { controllerOf, type KubeObject, type ObjectKey, type Resource } from '../../src/kube/object.ts'
import { ConfigMap, Deployment, Job, PersistentVolumeClaim, Pod, Secret, Service } from '../../src/kube/resources.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { objectsWritten, requestsOf } from '../cluster/audit-log.ts'
import { installApi } from '../cluster/api.ts'
import { SYSTEM } from '../cluster/chart.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { hostileKinds, type HostileKind } from '../objects/hostile-specs.ts'
import type { Place } from '../objects/leaves.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { Semaphore } from '../timing/semaphore.ts'
import { until } from '../timing/until.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const RECORDER = join(ROOT, 'test', 'client', 'record-connections.ts')
const ACCOUNT = `system:serviceaccount:${SYSTEM}:ml-operator`
const [VICTIM, ATTACKER] = ['victim', 'attacker']
const CHILDREN = [Pod, Service, ConfigMap, Deployment, Job, PersistentVolumeClaim]

let plane: ControlPlane
let admin: Client
let tenant: Client
let operator: OperatorProcess | undefined
let connections = 0
const canary = createServer((_, response) => {
  connections += 1
  response.end('{}')
})

/** Whether the API server accepts the object from the tenant. */
async function accepts(
  resource: Resource,
  object: KubeObject,
  options: { readonly dryRun?: boolean } = {},
): Promise<boolean> {
  return tenant.create(resource, object, options).then(
    () => true,
    (error: unknown) => {
      const isRejection = error instanceof ApiError && [400, 403, 422].includes(error.code)
      assert.ok(isRejection, `${object.metadata.name}: ${String(error)}`)
      return false
    },
  )
}

interface Planted {
  readonly resource: Resource
  readonly key: Required<ObjectKey>
  readonly fields: readonly Place[]
}

/** Creates objects that have the text in every field that accepts it. Fields that exclude each other are in several objects. */
async function plant(kind: HostileKind, text: string, tag: string): Promise<Planted[]> {
  const { resource, make } = kind
  // A job of another controller is left alone: no other field would be read.
  const fields = kind.fields.filter(({ path }) => path !== 'managedBy')
  const slots = new Semaphore(8)
  const metadata = (name: string) => ({ namespace: ATTACKER, name: `${tag}-${name}` })
  const tried = await Promise.all(
    fields.map((field, index) =>
      slots.run(() => accepts(resource, make(metadata(String(index)), [field], text), { dryRun: true })),
    ),
  )
  const planted: Planted[] = []
  const add = async (some: readonly Place[]): Promise<void> => {
    const key = metadata(`x${planted.length}`)
    if (some.length === 0) return
    if (await accepts(resource, make(key, some, text))) return void planted.push({ resource, key, fields: some })
    const half = Math.ceil(some.length / 2)
    assert.ok(some.length > 1, `${resource.kind} rejects what its dry run accepted: ${some[0]?.path}`)
    await add(some.slice(0, half))
    await add(some.slice(half))
  }
  await add(fields.filter((_, index) => tried[index]))
  return planted
}

/** Plants the text in all kinds. Returns after the operator has written the status of every object. */
async function plantEverywhere(text: string, tag: string): Promise<Planted[]> {
  const planted: Planted[] = []
  for (const [index, kind] of (await hostileKinds()).entries())
    planted.push(...(await plant(kind, text, `${tag}-${index}`)))
  for (const { resource, key } of planted.filter((one) => one.resource.kind !== 'ModelServer'))
    await until(`${resource.kind}/${key.name} to be reconciled`, async () => {
      assert.ok(operator?.isRunning(), operator?.log().slice(-2_000))
      const { status } = (await admin.get(resource, key)) as KubeObject & { readonly status?: object }
      return status !== undefined
    })
  return planted
}

const fieldsOf = (planted: readonly Planted[]): number => planted.reduce((sum, { fields }) => sum + fields.length, 0)

/** `Kind/name path` of every member called `namespace` below an object that names the victim's. */
function namesVictim(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'namespace' && member === VICTIM ? [`${path}.${name}`] : namesVictim(member, `${path}.${name}`),
  )
}

describe('a hostile tenant', () => {
  before(async () => {
    plane = await startControlPlane({ audit: true })
    admin = createClient(await configFromKubeconfig(plane.kubeconfig))
    for (const name of [SYSTEM, VICTIM, ATTACKER]) await createNamespace(admin, name)
    await installApi(admin)
    for (const folder of ['rbac', 'admission'])
      await plane.kubectl('apply', '--server-side', '-k', join(ROOT, 'config', folder))
    const rights = ['--verb=*', '--resource=*.ml.example.com,*.mlops.sathvik.dev,pods']
    await plane.kubectl('-n', ATTACKER, 'create', 'role', 'tenant', ...rights)
    await plane.kubectl('-n', ATTACKER, 'create', 'rolebinding', 'tenant', '--role=tenant', '--user=tenant')
    tenant = createClient(await configFromKubeconfig(plane.kubeconfigFor({ name: 'tenant' })))
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: VICTIM, name: 'login' } }
    await admin.create(Secret, secret)
    canary.listen(0, '127.0.0.1')
    operator = await startOperatorProcess(
      plane.kubeconfigFor({ name: ACCOUNT }),
      ['--no-webhook', `--lease-namespace=${SYSTEM}`],
      { imports: [RECORDER] },
    )
  })

  after(async () => {
    canary.close()
    await operator?.stop()
    await tenant.close()
    await admin.close()
    await plane.stop()
  })

  test('cannot make the operator connect to an address of a spec', async () => {
    const { port } = canary.address() as AddressInfo
    const planted = await plantEverywhere(`http://127.0.0.1:${port}/x`, 'url')
    assert.ok(fieldsOf(planted) > 50, `${fieldsOf(planted)} fields accept a URL`)
    const server = new URL(plane.server).host
    const opened = [...(operator?.log() ?? '').matchAll(/^opens (.*)$/gm)].map(([, target]) => target)
    assert.ok(opened.includes(server), 'connections are recorded')
    assert.deepEqual(
      [...new Set(opened)].filter((target) => target !== server),
      [],
    )
    assert.equal(connections, 0)
  })

  test('cannot reach the objects of another tenant by any reference', async () => {
    const planted = await plantEverywhere(`${VICTIM}/login`, 'name')
    assert.ok(fieldsOf(planted) > 50, `${fieldsOf(planted)} fields accept a name with a namespace`)
    for (const { resource, make, fields } of await hostileKinds())
      await assert.rejects(
        tenant.create(resource, make({ namespace: VICTIM, name: 'x' }, fields, 'x'), { dryRun: true }),
        /is forbidden/,
      )
    const requests = requestsOf(plane.auditLog, ACCOUNT)
    assert.ok(objectsWritten(requests).some((object) => object.startsWith(`${ATTACKER} `)))
    const inVictim = requests.filter(({ namespace }) => namespace === VICTIM)
    assert.deepEqual(inVictim, [], 'the operator reads and writes nothing in the namespace of the other tenant')
    for (const kind of CHILDREN) {
      const { items } = await admin.list<KubeObject>(kind)
      const children = items.filter((item) => controllerOf(item) !== undefined)
      assert.deepEqual(
        children.flatMap((child) => namesVictim(child, `${kind.kind}/${child.metadata.name}`)),
        [],
      )
      assert.deepEqual(
        children.filter(({ metadata }) => metadata.namespace === VICTIM),
        [],
      )
    }
  })
})
