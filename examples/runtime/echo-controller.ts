/**
 * A complete controller. It copies every ConfigMap with the annotation `echo.example.com/copy-to: NAME` to a ConfigMap NAME,
 * updates the copy with the original, reverts manual changes of the copy, and deletes it with the annotation or the original.
 *
 *   node examples/runtime/echo-controller.ts        (uses $KUBECONFIG or the service account of its pod)
 */
import { createClient } from '../../src/kube/client.ts'
import { loadConfig } from '../../src/kube/config.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { committer, createLogger, Manager, type Plan, toDelete, toWrite } from '../../src/runtime/index.ts'

export const COPY_TO = 'echo.example.com/copy-to'

/** All decisions, without I/O: which copies to apply and which to delete. */
export function planEcho(original: ConfigMap, copies: readonly ConfigMap[]): Plan {
  const name = original.metadata.annotations?.[COPY_TO]
  const { data = {} } = original
  const copy = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name ?? '' }, data }
  return {
    writes: toWrite('apply', name === undefined ? [] : [copy]),
    deletions: toDelete(
      'graceful',
      copies.filter(({ metadata }) => metadata.name !== name),
    ),
    events: [],
  }
}

/** Watches originals and copies, and reconciles the copies. */
export function addEchoController(manager: Manager): void {
  const configMaps = manager.caches.of(ConfigMap)
  const commit = committer(manager)
  const echo = manager.controller('echo').for(ConfigMap).owns(ConfigMap)
  echo.reconcile(async (key, context) => {
    const original = configMaps.get(key)
    if (!original || original.metadata.deletionTimestamp) return {}
    const copies = configMaps.ownedBy(original.metadata.uid ?? '')
    return commit(original, planEcho(original, copies), context)
  })
}

if (import.meta.main) {
  const config = await loadConfig()
  const manager = new Manager({
    name: 'echo-controller',
    connect: (interceptors) => createClient(config, { interceptors, fieldManager: 'echo' }),
    log: createLogger(),
    leaderElection: { lease: { namespace: 'default', name: 'echo' } },
    server: { port: 8000 },
  })
  addEchoController(manager)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  await manager.run(stop.signal)
}
