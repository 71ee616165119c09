/** A fake controller for benchmarks: acts on every object of a kind, initially and after each change. */
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { watch } from '../../src/kube/watch.ts'

export interface Driver {
  stop(): Promise<void>
}

export interface Driven<T extends KubeObject> {
  readonly resource: Resource<T>
  readonly labelSelector?: string
  /** A failed write is retried at the next change of the object. */
  readonly act: (client: Client, object: T) => void
}

export function startDriver<T extends KubeObject>(
  cluster: ClientConfig,
  { resource, act, ...selection }: Driven<T>,
): Driver {
  const client = createClient(cluster)
  const stop = new AbortController()
  const follow = async (): Promise<void> => {
    for await (const update of watch(client, resource, { ...selection, signal: stop.signal })) {
      const objects = update.type === 'replace' ? update.items : update.type === 'apply' ? [update.object] : []
      for (const object of objects) act(client, object)
    }
    await client.close()
  }
  const ended = follow()
  return {
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}
