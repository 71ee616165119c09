/**
 * The cluster that test files share. The runner (`scripts/test.ts`) starts one and passes its kubeconfig on in
 * `TEST_KUBECONFIG`; the same variable points the tests at an existing cluster. A file run alone, without it,
 * starts a control plane of its own.
 */

import { randomBytes } from 'node:crypto'
import { after, type TestContext } from 'node:test'

import { configFromKubeconfig } from '../src/kube/config.ts'
import { type Client, createClient } from '../src/kube/client.ts'
import { type KubeObject, type Resource } from '../src/kube/object.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { until } from './until.ts'

export interface SharedCluster {
  readonly kubeconfig: string
  readonly client: Client
}

const namespaces: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }
const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}

let shared: Promise<SharedCluster> | undefined

// At the root of the file: a hook asked for inside another hook would run at that one's end.
after(async () => {
  await (await shared)?.client.close()
})

/** One control plane for all test files of a run. Leave it as you found it: work in a namespace of your own. */
export function sharedCluster(): Promise<SharedCluster> {
  shared ??= connect()
  return shared
}

async function connect(): Promise<SharedCluster> {
  const kubeconfig = process.env['TEST_KUBECONFIG'] ?? (await startOwn())
  const client = createClient(await configFromKubeconfig(kubeconfig))
  return { kubeconfig, client }
}

/** Nobody stops it: hooks of the test file may need it to the last. It ends with this process. */
async function startOwn(): Promise<string> {
  return (await startControlPlane()).kubeconfig
}

/** A fresh namespace, ready for pods, removed after the test. */
export async function namespace(t: TestContext): Promise<string> {
  const { client } = await sharedCluster()
  const name = `test-${randomBytes(4).toString('hex')}`
  const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await client.create(namespaces, object)
  t.after(() => client.delete(namespaces, { name }))
  await until(`ServiceAccount default in ${name}`, () =>
    client.get(serviceAccounts, { namespace: name, name: 'default' }),
  )
  return name
}
