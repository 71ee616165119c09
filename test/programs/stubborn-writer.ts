/**
 * A manager process that, once it leads, writes to a ConfigMap in a loop that ignores the end of its reconcile and the loss of
 * leadership. Only the manager's write gate can stop it.
 *
 *   stubborn-writer.ts KUBECONFIG NAMESPACE IDENTITY
 *
 * Prints one JSON object per line: {"event":"contending"|"leading"|"refused"|"lost"|"stopped"}. SIGTERM stops it gracefully.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, type Client } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { createLogger, Manager, RuntimeError } from '../../src/runtime/index.ts'

const [kubeconfig = '', namespace = '', identity = ''] = process.argv.slice(2)
const config = await configFromKubeconfig(kubeconfig)
const say = (event: string): void => void process.stdout.write(`${JSON.stringify({ event })}\n`)

const manager = new Manager({
  name: 'stubborn-writer',
  connect: (interceptors) => createClient(config, { interceptors }),
  log: createLogger({ level: 'silent' }),
  leaderElection: {
    lease: { namespace, name: 'writer' },
    identity,
    durationMs: 6_000,
    renewDeadlineMs: 4_000,
    retryMs: 1_000,
  },
  shutdownMs: 1_000,
})

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())

async function sign(client: Client): Promise<void> {
  for (let count = 0; !stop.signal.aborted; count++) {
    const data = { writer: identity, count: String(count) }
    await client.patch(ConfigMap, { namespace, name: 'signed' }, { data }).catch((error: unknown) => {
      if (error instanceof RuntimeError && error.code === 'NotLeading') say('refused')
    })
    await delay(20)
  }
}

manager.caches.of(ConfigMap, { namespace, fieldSelector: 'metadata.name=signed' })
let signing = false
manager
  .controller('writer')
  .for(ConfigMap)
  .reconcile(async (_key, { client }) => {
    if (signing) return
    signing = true
    say('leading')
    void sign(client)
  })

const { synced } = manager.caches.of(ConfigMap)
void synced.then(() => say('contending'))
try {
  await manager.run(stop.signal)
  say('stopped')
} catch (error) {
  say(error instanceof RuntimeError && error.code === 'NotLeading' ? 'lost' : String(error))
}
