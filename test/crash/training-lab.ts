import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { installApi } from '../api.ts'
import { fakeNode } from '../kubelet.ts'
import { startOperator } from '../operator.ts'
import { Places } from './places.ts'
import type { Lab } from './run.ts'

/** Every job is looked at this often, so that rest can be told from a pause. */
const RESYNC_MS = 150

/** The operator as the program under test, on the cluster of a kubeconfig. */
export async function trainingLab(kubeconfig: string, parallel: number): Promise<Lab & { close(): Promise<void> }> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const node = await fakeNode(client)
  const namespaces = new Set<string>()
  return {
    client,
    namespaces,
    places: new Places(parallel),
    node: node.name,
    program: (namespace) => (interceptor) =>
      startOperator({ cluster, namespace, interceptors: [interceptor], resyncMs: RESYNC_MS, concurrency: 1 }),
    close: async () => {
      for (const name of namespaces) await client.delete(Namespace, { name })
      await node.remove()
      await client.close()
    },
  }
}
