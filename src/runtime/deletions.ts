/**
 * Everything that a plan deletes: only what its owner controls, by the uid that was seen, and never by a plan from a cache
 * that is behind.
 */
import type { DeleteOptions } from '../kube/client.ts'
import { isPreconditionFailed } from '../kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind } from '../kube/object.ts'
import type { Applier, WriteCall } from './applier.ts'
import { RuntimeError } from './errors.ts'
import { demandCurrent, liveOwner, type OwnerAtHand } from './live-owner.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { slowStart } from './slow-start.ts'

export interface DeletionDeps {
  readonly applier: Applier
  readonly metrics: RuntimeMetrics
  readonly owner: KubeObject
  readonly call: WriteCall
  /** Whether the owner controls it, by itself or through a child. */
  readonly isOurs: (object: KubeObject) => boolean
}

export class Deletions {
  readonly #deps: DeletionDeps

  constructor(deps: DeletionDeps) {
    this.#deps = deps
  }

  /** Answers with the names that had to be left alone. A live read has to show the owner as the plan saw it. */
  async prune(objects: readonly KubeObject[]): Promise<string[]> {
    const { ours, foreign } = this.#sorted(objects)
    const going = ours.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (going.length > 0) await demandCurrent(this.#atHand)
    await slowStart(going, (object) => this.#delete(object, { propagationPolicy: 'Background' }))
    return foreign
  }

  /** Pods that are on their way out already, but whose node does not answer. */
  async force(objects: readonly KubeObject[]): Promise<string[]> {
    const { ours, foreign } = this.#sorted(objects)
    await slowStart(ours, (object) => this.#delete(object, { gracePeriodSeconds: 0 }))
    return foreign
  }

  /** What outlives its owner cannot be made again: a live read has to show that very owner being deleted. */
  async discard(objects: readonly KubeObject[]): Promise<void> {
    if (objects.length === 0) return
    if ((await liveOwner(this.#atHand))?.metadata.deletionTimestamp === undefined)
      throw new RuntimeError(
        'Transient',
        `${nameWithKind(this.#deps.owner)} is not being deleted: what it left is kept`,
      )
    await slowStart(objects, (object) => this.#delete(object, { propagationPolicy: 'Background' }))
  }

  async owner(): Promise<void> {
    const { owner } = this.#deps
    const { resourceVersion = '' } = owner.metadata
    await this.#delete(owner, { resourceVersion, propagationPolicy: 'Background' })
  }

  #sorted(objects: readonly KubeObject[]): { readonly ours: readonly KubeObject[]; readonly foreign: string[] } {
    const ours = objects.filter((object) => this.#deps.isOurs(object))
    return { ours, foreign: objects.filter((object) => !ours.includes(object)).map(nameWithKind) }
  }

  get #atHand(): OwnerAtHand {
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
      // Another uid has the name now, or a newer version: the one we meant is gone.
      if (!isPreconditionFailed(error)) throw error
    }
  }
}
