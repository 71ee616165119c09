/** A fake Gateway controller: accepts every HTTPRoute of a namespace, without routing anything. */
import type { Client } from '../../src/kube/client.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import { keyOf } from '../../src/kube/object.ts'
import { watch } from '../../src/kube/watch.ts'
import { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { timestamp } from '../../src/plan/time.ts'
import { isTransient } from './kubelet.ts'

export class FakeGateway {
  readonly #client: Client
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(client: Client, namespace: string) {
    this.#client = client
    this.#ended = this.#follow(namespace)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #follow(namespace: string): Promise<void> {
    for await (const update of watch(this.#client, HTTPRoute, { namespace, signal: this.#stop.signal })) {
      if (update.type === 'replace') for (const route of update.items) await this.#accept(route)
      else if (update.type === 'apply') await this.#accept(update.object)
    }
  }

  async #accept(route: HTTPRoute): Promise<void> {
    const { generation: observedGeneration = 0 } = route.metadata
    const accepted = route.status?.parents?.[0]?.conditions?.[0]?.observedGeneration
    if (accepted === observedGeneration) return
    const lastTransitionTime = timestamp(Date.now())
    const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
      type,
      status: 'True',
      reason: type,
      message: '',
      observedGeneration,
      lastTransitionTime,
    }))
    const controllerName = 'example.com/gateway'
    const parents = (route.spec.parentRefs ?? []).map((parentRef) => ({ parentRef, controllerName, conditions }))
    await this.#client
      .patch(HTTPRoute, keyOf(route), { status: { parents } }, { subresource: 'status' })
      .catch(async (error: unknown) => {
        if (isTransient(error) && !this.#stop.signal.aborted) await this.#accept(route)
        else if (!isNotFound(error)) throw error
      })
  }
}
