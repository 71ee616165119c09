/** The deletions of a plan: only objects that the owner controls, by their observed uid, never from a stale cache. */
import type { DeleteOptions } from '../kube/client.ts'
import { isPreconditionFailed } from '../kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind } from '../kube/object.ts'
import type { Applier, WriteCall } from './applier.ts'
import { RuntimeError } from './errors.ts'
import { type ObservedOwner, readOwner } from './live-owner.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { kindRuns } from './kind-runs.ts'
import { slowStart } from './slow-start.ts'

export interface DeletionDeps {
  readonly applier: Applier
  readonly metrics: RuntimeMetrics
  readonly owner: KubeObject
  readonly call: WriteCall
  /** Whether the owner controls the object, directly or through a child. */
  readonly isOurs: (object: KubeObject) => boolean
  /** Throws if the owner has changed since it was planned from. */
  readonly demandCurrent: () => Promise<void>
}

export class Deletions {
  readonly #deps: DeletionDeps

  constructor(deps: DeletionDeps) {
    this.#deps = deps
  }

  /**
   * Deletes kind by kind in the order of the plan, so that dependants go before their dependencies. First a live read must
   * show the owner unchanged. Returns the names of objects that the owner does not control.
   */
  async prune(objects: readonly KubeObject[]): Promise<string[]> {
    const { ours, foreign } = this.#partition(objects)
    const pruned = ours.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (pruned.length > 0) await this.#deps.demandCurrent()
    for (const run of kindRuns(pruned))
      await slowStart(run, (object) => this.#delete(object, { propagationPolicy: 'Background' }))
    return foreign
  }

  /** Force-deletes terminating pods whose node does not respond. */
  async force(objects: readonly KubeObject[]): Promise<string[]> {
    const { ours, foreign } = this.#partition(objects)
    await slowStart(ours, (object) => this.#delete(object, { gracePeriodSeconds: 0 }))
    return foreign
  }

  /** Deletes data that outlives its owner and cannot be recreated: first a live read must show the owner terminating. */
  async discard(objects: readonly KubeObject[]): Promise<void> {
    if (objects.length === 0) return
    if ((await readOwner(this.#observedOwner))?.metadata.deletionTimestamp === undefined)
      throw new RuntimeError('Transient', `${nameWithKind(this.#deps.owner)} is not being deleted: its data is kept`)
    await slowStart(objects, (object) => this.#delete(object, { propagationPolicy: 'Background' }))
  }

  async owner(): Promise<void> {
    const { owner } = this.#deps
    const { resourceVersion = '' } = owner.metadata
    await this.#delete(owner, { resourceVersion, propagationPolicy: 'Background' })
  }

  #partition(objects: readonly KubeObject[]): { readonly ours: readonly KubeObject[]; readonly foreign: string[] } {
    const ours = objects.filter((object) => this.#deps.isOurs(object))
    return { ours, foreign: objects.filter((object) => !ours.includes(object)).map(nameWithKind) }
  }

  get #observedOwner(): ObservedOwner {
    const { applier, call, owner } = this.#deps
    return { owner, call, resource: applier.cacheOf(owner).resource }
  }

  async #delete(object: KubeObject, options: DeleteOptions): Promise<void> {
    const { applier, metrics, call } = this.#deps
    const { resource } = applier.cacheOf(object)
    const { uid } = object.metadata
    if (uid === undefined) throw new Error(`${nameWithKind(object)} has no uid: delete only what was observed`)
    try {
      await call.client.delete(resource, keyOf(object), { uid, signal: call.signal, ...options })
      metrics.committed(object.kind, 'pruned')
    } catch (error) {
      // The name belongs to another uid or a newer version: the observed object is gone.
      if (!isPreconditionFailed(error)) throw error
    }
  }
}
