/**
 * One watch per kind for all plans. Each plan gets the changes in its namespace, in the server's order for each kind. A watch
 * per plan and kind would cost the API server more than the plan itself.
 */
import type { Client } from '../../../src/kube/client.ts'
import { apiVersionOf, type KubeObject, type Resource } from '../../../src/kube/object.ts'
import { watch, type WatchUpdate } from '../../../src/kube/watch.ts'

export type OnUpdate = (update: WatchUpdate<KubeObject>, kind: string) => void

interface Followed {
  readonly subscribers: Map<string, OnUpdate>
  readonly synced: PromiseWithResolvers<void>
}

export class SharedWatches {
  readonly #client: Client
  readonly #followed = new Map<string, Followed>()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>[] = []

  constructor(client: Client) {
    this.#client = client
  }

  /** Delivers every change of these kinds in a namespace from now on. Resolves when no change can be missed. */
  async subscribe(namespace: string, kinds: readonly Resource[], onUpdate: OnUpdate): Promise<() => void> {
    const followed = kinds.map((kind) => this.#follow(kind))
    for (const { subscribers } of followed) subscribers.set(namespace, onUpdate)
    await Promise.all(followed.map(({ synced }) => synced.promise))
    return () => {
      for (const { subscribers } of followed) subscribers.delete(namespace)
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#ended)
  }

  #follow(resource: Resource): Followed {
    const id = `${apiVersionOf(resource)}/${resource.kind}`
    const known = this.#followed.get(id)
    if (known) return known
    const followed = { subscribers: new Map<string, OnUpdate>(), synced: Promise.withResolvers<void>() }
    this.#followed.set(id, followed)
    this.#ended.push(this.#run(resource, followed))
    return followed
  }

  async #run(resource: Resource, { subscribers, synced }: Followed): Promise<void> {
    for await (const update of watch(this.#client, resource, { signal: this.#stop.signal })) {
      if (update.type === 'replace') {
        synced.resolve()
        for (const [namespace, onUpdate] of subscribers) onUpdate(within(update, namespace), resource.kind)
      } else if (update.type !== 'bookmark') {
        subscribers.get(update.object.metadata.namespace ?? '')?.(update, resource.kind)
      }
    }
  }
}

type Replacement = Extract<WatchUpdate<KubeObject>, { type: 'replace' }>

function within({ items, ...rest }: Replacement, namespace: string): Replacement {
  return { ...rest, items: items.filter(({ metadata }) => metadata.namespace === namespace) }
}
