/**
 * The control plane that test files share. The test runner (`scripts/test.ts`) starts one and sets `TEST_KUBECONFIG`; set it
 * to use an existing cluster. A file that runs alone, without it, starts its own.
 */

import { randomBytes } from 'node:crypto'
import { after, type TestContext } from 'node:test'

import { configFromKubeconfig } from '../../src/kube/config.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { startControlPlane } from '../../testenv/control-plane.ts'
import { createNamespace } from './namespaces.ts'

export interface SharedCluster {
  readonly kubeconfig: string
  readonly client: Client
}

let shared: Promise<SharedCluster> | undefined

// At the top level: a hook registered inside another hook would run when that one ends.
after(async () => {
  await (await shared)?.client.close()
})

/** The control plane of this test run. Tests work in namespaces of their own and leave everything else unchanged. */
export function sharedCluster(): Promise<SharedCluster> {
  shared ??= connect()
  return shared
}

async function connect(): Promise<SharedCluster> {
  const kubeconfig = process.env['TEST_KUBECONFIG'] ?? (await startOwn())
  const client = createClient(await configFromKubeconfig(kubeconfig))
  return { kubeconfig, client }
}

/** Not stopped explicitly, because hooks of the test file may need it. It ends with this process. */
async function startOwn(): Promise<string> {
  return (await startControlPlane()).kubeconfig
}

/** Creates a namespace, ready for pods. Deleted after the test. */
export async function namespace(t: TestContext): Promise<string> {
  const { client } = await sharedCluster()
  const name = `test-${randomBytes(4).toString('hex')}`
  t.after(() => client.delete(Namespace, { name }))
  return createNamespace(client, name)
}
