/**
 * A whole controller: every ConfigMap annotated `echo.example.com/copy-to: NAME` has a copy called NAME, which follows
 * its changes, is repaired when somebody edits it, and goes when the annotation or the original does.
 *
 *   node examples/runtime/echo-controller.ts        (uses $KUBECONFIG, or the pod it runs in)
 */
import { createClient } from '../../src/kube/client.ts'
import { loadConfig } from '../../src/kube/config.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { committer, createLogger, Manager, type Plan } from '../../src/runtime/index.ts'

export const COPY_TO = 'echo.example.com/copy-to'

/** Every decision, without I/O: what should be there, and what should not. */
export function planEcho(original: ConfigMap, copies: readonly ConfigMap[]): Plan {
  const name = original.metadata.annotations?.[COPY_TO]
  const { data = {} } = original
  const copy = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name ?? '' }, data }
  return {
    apply: name === undefined ? [] : [copy],
    prune: copies.filter(({ metadata }) => metadata.name !== name),
    events: [],
  }
}

/** Watches originals and copies, and brings the copies in line. */
export function addEchoController(manager: Manager): void {
  const configMaps = manager.caches.of(ConfigMap)
  const commit = committer(manager)
  const echo = manager.controller('echo').for(ConfigMap).owns(ConfigMap)
  echo.reconcile(async (key, context) => {
    const original = configMaps.get(key)
    if (!original || original.metadata.deletionTimestamp) return {}
    const copies = configMaps.ownedBy(original.metadata.uid ?? '')
    const { conflicts, ...result } = await commit(original, planEcho(original, copies), context)
    if (conflicts.length > 0) context.log.warn({ conflicts }, 'the name of the copy is taken')
    return result
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
