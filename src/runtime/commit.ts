/**
 * Executes a plan: prune → force → keep → create → apply → annotate → status → events → discard → expired. All children
 * and the status of an object are written here. `src/source-rules.test.ts` lists the few other writers: finalizers, the
 * leader's Lease, Events and the webhook's certificates.
 *
 * Guarantees
 * - Order: a child is applied only after everything to prune was deleted. The status is written only after all children
 *   are as planned. An event is published only after the status that explains it, and not if the status did not change.
 *   The first failure ends the pass; executing the same plan again completes it.
 * - A converged object costs no write: children in their intended state are skipped (see `Applier`), and so is a
 *   deep-equal status. Drift is still repaired: all intended fields are compared with the cached object.
 * - Only objects that the owner controls, directly or through its children, are changed. Deletes carry the uid,
 *   annotations the observed resourceVersion, updates the observed uid; a create never becomes an update. If an object
 *   with a planned name exists and the owner does not control it, the object is not changed and the pass ends with a
 *   `NameConflict`: objects of later kinds are not applied, since plans list children in the order of their dependencies,
 *   and the status is not written.
 * - The status is written with the resourceVersion of the owner that was planned from: a plan from a stale cache
 *   conflicts.
 * - A plan from a stale cache deletes nothing and recreates nothing that was deleted: a live read must first show the
 *   owner unchanged. Data that outlives its owner is discarded only after a live read has shown the owner terminating.
 * - `lastTransitionTime` is set here, so planners need no clock.
 *
 * Assumptions
 * - Names of children are deterministic, and all their kinds are cached, except those in `create`.
 * - `owner` is the object that the plan was made from.
 * - The client is that of the reconcile context, so that the next reconcile waits for these writes.
 */
import { isAlreadyExists, isNotFound, isOtherUid } from '../kube/errors.ts'
import { apiVersionOf, keyOf, type KubeObject, nameWithKind, type Resource } from '../kube/object.ts'
import type { Annotated, EventNote, Plan } from '../kube/plan.ts'
import { timestamp } from '../kube/time.ts'
import { type Applied, Applier, type WriteCall } from './applier.ts'
import type { Caches } from './caches.ts'
import type { Clock } from './clock.ts'
import type { Result } from './controller.ts'
import { Deletions } from './deletions.ts'
import { currencyCheck } from './live-owner.ts'
import type { Recorder } from './events.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { NameConflict } from './name-conflict.ts'
import { kindRuns } from './kind-runs.ts'
import { beside, controlled, isDescendant } from './ownership.ts'
import { slowStart } from './slow-start.ts'
import { mergePatch, stamped } from './status.ts'

export interface Owner<Status = unknown> extends KubeObject {
  readonly status?: Status
}

export interface CommitResult extends Result {
  /** `Kind/name` of objects that the plan deletes or annotates but the owner does not control: not changed. */
  readonly foreign: readonly string[]
}

export interface CommitDeps {
  readonly caches: Caches
  readonly recorder: Recorder
  readonly clock: Clock
  readonly metrics: RuntimeMetrics
  /** Kinds that are created but never read: those that `create` of a plan may contain. */
  readonly unseen?: readonly Resource[]
}

export type Commit = <S>(owner: Owner<S>, plan: Plan<S>, call: WriteCall) => Promise<CommitResult>

export function committer(deps: CommitDeps): Commit {
  const applier = new Applier(deps.caches)
  return async (owner, plan, call) => {
    const isOurs = (object: KubeObject): boolean => isDescendant(object, owner, deps.caches)
    const demandCurrent = currencyCheck({ owner, call, resource: applier.cacheOf(owner).resource })
    const pass = new Pass(deps, { applier, owner, call, isOurs, demandCurrent })
    const deletions = new Deletions({ applier, owner, call, isOurs, demandCurrent, metrics: deps.metrics })
    const spared = [...(await deletions.prune(plan.prune)), ...(await deletions.force(plan.force ?? []))]
    await pass.keep(plan.keep ?? [])
    await pass.create(plan.create ?? [])
    await pass.apply(plan.apply)
    const foreign = [...spared, ...(await pass.annotate(plan.annotate ?? []))]
    const isChanged = await pass.writeStatus(plan.status)
    if (isChanged || plan.status === undefined) pass.publish(plan.events)
    await deletions.discard(plan.discard ?? [])
    if (plan.expired && !isChanged) await deletions.owner()
    const { requeueAfterMs } = plan
    return requeueAfterMs === undefined ? { foreign } : { foreign, requeueAfterMs }
  }
}

interface Subject {
  readonly applier: Applier
  readonly owner: Owner
  readonly call: WriteCall
  readonly isOurs: (object: KubeObject) => boolean
  /** Throws if the owner has changed since it was planned from. */
  readonly demandCurrent: () => Promise<void>
}

/** The execution of one plan, except its deletions. */
class Pass {
  readonly #deps: CommitDeps
  readonly #applier: Applier
  readonly #owner: Owner
  readonly #call: WriteCall
  readonly #isOurs: Subject['isOurs']
  readonly #demandCurrent: Subject['demandCurrent']

  constructor(deps: CommitDeps, { applier, owner, call, isOurs, demandCurrent }: Subject) {
    this.#deps = deps
    this.#applier = applier
    this.#owner = owner
    this.#call = call
    this.#isOurs = isOurs
    this.#demandCurrent = demandCurrent
  }

  async keep(objects: readonly KubeObject[]): Promise<void> {
    const { client, signal } = this.#call
    for (const kept of objects) {
      const object = beside(kept, this.#owner)
      const cache = this.#applier.cacheOf(object)
      if (cache.get(keyOf(object))) continue
      await ignoreExisting(client.create(cache.resource, object, { signal }))
    }
  }

  async create(objects: readonly KubeObject[]): Promise<void> {
    const { client, signal } = this.#call
    for (const object of objects) {
      const child = controlled(object, this.#owner)
      const resource = this.#unseen(child)
      await ignoreExisting(client.create(resource, child, { signal }))
    }
  }

  /** Kind by kind. Stops after a kind with a name conflict. */
  async apply(objects: readonly KubeObject[]): Promise<void> {
    if (objects.some((object) => this.#isRecreated(object))) await this.#demandCurrent()
    for (const run of kindRuns(objects)) {
      const outcomes = await slowStart(run, (object) => this.#apply(object))
      const foreign = outcomes.flatMap((outcome) => (outcome.action === 'conflict' ? outcome.foreign : []))
      if (foreign.length > 0) throw new NameConflict(this.#owner, foreign)
    }
  }

  /** Returns the names of objects that the owner does not control. Ignores objects that are gone or replaced. */
  async annotate(targets: readonly Annotated[]): Promise<string[]> {
    const ours = targets.filter(({ object }) => this.#isOurs(object))
    const lacking = ours.filter(({ object, annotations }) => !hasAnnotations(object, annotations))
    await slowStart(lacking, (target) => this.#annotate(target))
    return targets.filter((target) => !ours.includes(target)).map(({ object }) => nameWithKind(object))
  }

  /** Returns true if the status has changed. */
  async writeStatus(status: unknown): Promise<boolean> {
    if (status === undefined) return false
    const { client, signal } = this.#call
    const owner = this.#owner
    const wanted = toPlainJson(stamped(status, owner.status, timestamp(this.#deps.clock.now())))
    const patch = mergePatch(owner.status ?? {}, wanted)
    if (patch === undefined) return false
    const { resourceVersion } = owner.metadata
    const body = { metadata: { resourceVersion }, status: patch }
    await client.patch(this.#applier.cacheOf(owner).resource, keyOf(owner), body, { subresource: 'status', signal })
    this.#deps.metrics.committed(owner.kind, 'status')
    return true
  }

  publish(events: readonly EventNote[]): void {
    for (const event of events) this.#deps.recorder.record(this.#owner, event)
  }

  /** The object was deleted before: by mistake, or by a newer plan that the stale owner does not show. */
  #isRecreated(object: KubeObject): boolean {
    const cache = this.#applier.cacheOf(object)
    const key = keyOf(beside(object, this.#owner))
    return cache.hasGone(key) && !cache.get(key)
  }

  async #annotate({ object, annotations }: Annotated): Promise<void> {
    const { client, signal } = this.#call
    const { uid, resourceVersion } = object.metadata
    if (uid === undefined) throw new Error(`${nameWithKind(object)} has no uid: annotate only what was observed`)
    const { resource } = this.#applier.cacheOf(object)
    try {
      await client.patch(resource, keyOf(object), { metadata: { uid, resourceVersion, annotations } }, { signal })
      this.#deps.metrics.committed(object.kind, 'annotated')
    } catch (error) {
      if (!isOtherUid(error) && !isNotFound(error)) throw error
    }
  }

  #unseen(object: KubeObject): Resource {
    const isOfKind = (resource: Resource): boolean =>
      resource.kind === object.kind && apiVersionOf(resource) === object.apiVersion
    const resource = this.#deps.unseen?.find(isOfKind)
    if (!resource) throw new Error(`${object.kind} is in create of a plan but not declared as unseen`)
    return resource
  }

  async #apply(object: KubeObject): Promise<Applied> {
    const outcome = await this.#applier.apply(this.#owner, object, this.#call)
    this.#deps.metrics.committed(object.kind, outcome.action)
    return outcome
  }
}

async function ignoreExisting(creation: Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

function hasAnnotations({ metadata }: KubeObject, annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).every(([key, value]) => metadata.annotations?.[key] === value)
}

/** The value as the server stores it: without undefined members. */
function toPlainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
