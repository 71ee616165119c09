import { createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import type { Interceptor } from '../../src/kube/interceptor.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { installApi } from '../api.ts'
import { fakeNode } from '../kubelet.ts'
import { Places } from './places.ts'
import type { Life } from './process.ts'
import type { Lab } from './run.ts'

export interface Program {
  readonly cluster: ClientConfig
  /** The only one that it serves. */
  readonly namespace: string
  readonly interceptors: readonly Interceptor[]
  readonly resyncMs: number
  readonly concurrency: number
}

export interface LabOptions {
  readonly parallel: number
  /** How long to wait for rest, once everything has been played; a minute if absent. */
  readonly patienceMs?: number
  /** Starts the program under test. */
  readonly start: (program: Program) => Life
}

/** Every object is looked at this often, so that rest can be told from a pause. */
const RESYNC_MS = 150
const PATIENCE_MS = 60_000

/** What a campaign needs, on the cluster of a kubeconfig. */
export async function openLab(
  kubeconfig: string,
  { parallel, patienceMs = PATIENCE_MS, start }: LabOptions,
): Promise<Lab & { close(): Promise<void> }> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const node = await fakeNode(client)
  const namespaces = new Set<string>()
  return {
    client,
    namespaces,
    patienceMs,
    places: new Places(parallel),
    node: node.name,
    program: (namespace) => (interceptor) =>
      start({ cluster, namespace, interceptors: [interceptor], resyncMs: RESYNC_MS, concurrency: 1 }),
    close: async () => {
      for (const name of namespaces) await client.delete(Namespace, { name })
      await node.remove()
      await client.close()
    },
  }
}
