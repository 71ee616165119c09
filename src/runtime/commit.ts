/**
 * Carries out a plan: prune → force → keep → create → apply → annotate → status → events → discard → expired. Nothing else
 * writes for an object.
 *
 * Guarantees
 * - Order: a child is applied only after everything to prune was deleted, the status is written only after all children
 *   are as planned, an event is published only after the status that explains it was stored, and not at all in a pass
 *   that changed no status. The first failure ends the pass; running the same plan again completes it.
 * - A converged object costs no write: children that already are as intended are skipped (see `Applier`), a status that
 *   is deep-equal is skipped. Drift is still repaired, by comparing all intended fields with the cached object.
 * - Only what the owner controls is touched, by itself or through children of its own. Deletes and annotations carry the
 *   uid; an update names the uid it saw; a creation never becomes an update. What exists under a planned name and is not
 *   controlled by the owner is left alone and reported: in `conflicts`, as condition `Conflict`, as an event, and looked
 *   at again after `CONFLICT_RETRY_MS`.
 * - The status is written with the resourceVersion that the plan was made from: a plan from a stale cache conflicts.
 * - Data that outlives its owner is discarded only after a live read has shown that very owner being deleted.
 * - `lastTransitionTime` is stamped here, so planners need no clock.
 *
 * Assumptions
 * - Names of children are deterministic, and all their kinds are cached, but for those of `create`.
 * - `owner` is the object that the plan was made from.
 * - The client is the one of the reconcile context, so the next reconcile sees what was written.
 */
import { isAlreadyExists, isConflict, isNotFound, isOtherUid } from '../kube/errors.ts'
import type { DeleteOptions } from '../kube/client.ts'
import { apiVersionOf, keyOf, type KubeObject, type Resource } from '../kube/object.ts'
import type { Annotated, EventNote, Plan } from '../kube/plan.ts'
import { Applier, type WriteCall } from './applier.ts'
import type { Caches } from './caches.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Result } from './controller.ts'
import { classify, RuntimeError } from './errors.ts'
import type { Recorder } from './events.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { beside, controlled, deploymentOf, isControlledBy, isSelectedBy } from './ownership.ts'
import { slowStart } from './slow-start.ts'
import { type Condition, mergePatch, stamped, withCondition } from './status.ts'

export interface Owner<Status = unknown> extends KubeObject {
  readonly status?: Status
}

export interface CommitResult extends Result {
  /** `Kind/name` of everything that stood in the way and was left alone. */
  readonly conflicts: readonly string[]
}

export interface CommitDeps {
  readonly caches: Caches
  readonly recorder: Recorder
  readonly clock: Clock
  readonly metrics: RuntimeMetrics
  /** Kinds that are only ever created: what `create` of a plan may hold. */
  readonly unseen?: readonly Resource[]
}

export type Commit = <S>(owner: Owner<S>, plan: Plan<S>, call: WriteCall) => Promise<CommitResult>

const CONFLICT_RETRY_MS = 60_000

export function committer(deps: CommitDeps): Commit {
  const applier = new Applier(deps.caches)
  return async (owner, plan, call) => {
    const pass = new Pass(deps, applier, owner, call)
    const foreign = [...(await pass.prune(plan.prune)), ...(await pass.force(plan.force ?? []))]
    await pass.keep(plan.keep ?? [])
    await pass.create(plan.create ?? [])
    const conflicts = [...foreign, ...(await pass.apply(plan.apply)), ...(await pass.annotate(plan.annotate ?? []))]
    const news = await pass.writeStatus(plan.status, conflicts)
    if (news || plan.status === undefined) pass.publish(plan.events, conflicts)
    await pass.discard(plan.discard ?? [])
    if (plan.expired && !news) await pass.deleteOwner()
    return result(plan, conflicts)
  }
}

function result({ requeueAfterMs }: Plan, conflicts: readonly string[]): CommitResult {
  if (conflicts.length > 0)
    return { conflicts, requeueAfterMs: Math.min(requeueAfterMs ?? Infinity, CONFLICT_RETRY_MS) }
  return requeueAfterMs === undefined ? { conflicts } : { conflicts, requeueAfterMs }
}

/** One plan on its way. */
class Pass {
  readonly #deps: CommitDeps
  readonly #applier: Applier
  readonly #owner: Owner
  readonly #call: WriteCall

  constructor(deps: CommitDeps, applier: Applier, owner: Owner, call: WriteCall) {
    this.#deps = deps
    this.#applier = applier
    this.#owner = owner
    this.#call = call
  }

  /** Answers, like `apply`, with the names that had to be left alone. */
  async prune(objects: readonly KubeObject[]): Promise<string[]> {
    const foreign = objects.filter((object) => !this.#isOurs(object))
    const going = objects.filter((object) => !foreign.includes(object) && !object.metadata.deletionTimestamp)
    await slowStart(going, (object) => this.#delete(object, { propagationPolicy: 'Background' }))
    return foreign.map(nameOf)
  }

  async force(objects: readonly KubeObject[]): Promise<string[]> {
    const foreign = objects.filter((object) => !this.#isOurs(object))
    const stuck = objects.filter((object) => !foreign.includes(object))
    await slowStart(stuck, (object) => this.#delete(object, { gracePeriodSeconds: 0 }))
    return foreign.map(nameOf)
  }

  async keep(objects: readonly KubeObject[]): Promise<void> {
    const { client, signal } = this.#call
    for (const kept of objects) {
      const object = beside(kept, this.#owner)
      const cache = this.#applier.cacheOf(object)
      if (cache.get(keyOf(object))) continue
      await this.#explaining(object, () => unlessExists(client.create(cache.resource, object, { signal })))
    }
  }

  async create(objects: readonly KubeObject[]): Promise<void> {
    const { client, signal } = this.#call
    for (const object of objects) {
      const child = controlled(object, this.#owner)
      const resource = this.#unseen(child)
      await this.#explaining(child, () => unlessExists(client.create(resource, child, { signal })))
    }
  }

  async apply(objects: readonly KubeObject[]): Promise<string[]> {
    const conflicts: string[] = []
    for (const run of runsOfOneKind(objects)) {
      const outcomes = await slowStart(run, (object) => this.#apply(object))
      conflicts.push(...run.filter((_, position) => outcomes[position] === 'conflict').map(nameOf))
    }
    return conflicts
  }

  /** Answers with the names of what is not ours. What is gone, or has its name from another by now, needs nothing. */
  async annotate(targets: readonly Annotated[]): Promise<string[]> {
    const ours = targets.filter(({ object }) => this.#isOurs(object))
    const lacking = ours.filter(({ object, annotations }) => !hasAnnotations(object, annotations))
    await slowStart(lacking, (target) => this.#annotate(target))
    return targets.filter((target) => !ours.includes(target)).map(({ object }) => nameOf(object))
  }

  /** True if the status changed. */
  async writeStatus(status: unknown, conflicts: readonly string[]): Promise<boolean> {
    if (status === undefined) return false
    const { client, signal } = this.#call
    const owner = this.#owner
    const whole = conflicts.length === 0 ? status : withCondition(status, conflictCondition(conflicts))
    const wanted = plainJson(stamped(whole, owner.status, timestamp(this.#deps.clock)))
    const patch = mergePatch(owner.status ?? {}, wanted)
    if (patch === undefined) return false
    const { resourceVersion } = owner.metadata
    const body = { metadata: { resourceVersion }, status: patch }
    await client.patch(this.#applier.cacheOf(owner).resource, keyOf(owner), body, { subresource: 'status', signal })
    this.#deps.metrics.committed(owner.kind, 'status')
    return true
  }

  /** The cache may be behind, and this cannot be undone: the server is asked whether the owner really goes. */
  async discard(objects: readonly KubeObject[]): Promise<void> {
    if (objects.length === 0) return
    const { client, signal } = this.#call
    const owner = this.#owner
    const live = await client.get(this.#applier.cacheOf(owner).resource, keyOf(owner), { signal })
    if (live.metadata.uid !== owner.metadata.uid || live.metadata.deletionTimestamp === undefined)
      throw new RuntimeError('Transient', `${nameOf(owner)} is not being deleted: what it left is kept`)
    await slowStart(objects, (object) => this.#delete(object, { propagationPolicy: 'Background' }))
  }

  async deleteOwner(): Promise<void> {
    const { resourceVersion = '' } = this.#owner.metadata
    await this.#delete(this.#owner, { resourceVersion, propagationPolicy: 'Background' })
  }

  publish(events: readonly EventNote[], conflicts: readonly string[]): void {
    const { recorder } = this.#deps
    for (const event of events) recorder.record(this.#owner, event)
    if (conflicts.length === 0) return
    const { message: note } = conflictCondition(conflicts)
    recorder.record(this.#owner, { type: 'Warning', reason: 'Conflict', action: 'Apply', note })
  }

  /** Controlled by the owner, or by a child that the owner controls, as the pods of a Job or a Deployment are. */
  #isOurs(object: KubeObject): boolean {
    if (isControlledBy(object, this.#owner)) return true
    const controller = object.metadata.ownerReferences?.find((reference) => reference.controller)
    if (!controller) return false
    const { namespace } = object.metadata
    const deployment = deploymentOf(object)
    const { name, ...kind } = deployment ?? controller
    const key = { name, ...(namespace !== undefined && { namespace }) }
    const parent = this.#deps.caches.find(kind, key)
    if (!parent || !isControlledBy(parent, this.#owner)) return false
    return deployment ? isSelectedBy(object, parent) : parent.metadata.uid === controller.uid
  }

  async #annotate({ object, annotations }: Annotated): Promise<void> {
    const { client, signal } = this.#call
    const { uid } = object.metadata
    if (uid === undefined) throw new Error(`${nameOf(object)} has no uid: annotate only what was observed`)
    const { resource } = this.#applier.cacheOf(object)
    try {
      await client.patch(resource, keyOf(object), { metadata: { uid, annotations } }, { signal })
      this.#deps.metrics.committed(object.kind, 'annotated')
    } catch (error) {
      if (!isOtherUid(error) && !isNotFound(error)) throw error
    }
  }

  #unseen(object: KubeObject): Resource {
    const isOfKind = (resource: Resource): boolean =>
      resource.kind === object.kind && apiVersionOf(resource) === object.apiVersion
    const resource = this.#deps.unseen?.find(isOfKind)
    if (!resource) throw new Error(`${object.kind} is created unseen but not among the kinds declared so`)
    return resource
  }

  async #delete(object: KubeObject, options: DeleteOptions): Promise<void> {
    const { client, signal } = this.#call
    const { resource } = this.#applier.cacheOf(object)
    const { uid } = object.metadata
    if (uid === undefined) throw new Error(`${nameOf(object)} has no uid: prune only what was observed`)
    try {
      await client.delete(resource, keyOf(object), { uid, signal, ...options })
      this.#deps.metrics.committed(object.kind, 'pruned')
    } catch (error) {
      // Another uid has the name now, or a newer version: the one we meant is gone.
      if (!isConflict(error)) throw error
    }
  }

  async #apply(object: KubeObject): Promise<string> {
    const outcome = await this.#explaining(object, () => this.#applier.apply(this.#owner, object, this.#call))
    this.#deps.metrics.committed(object.kind, outcome)
    return outcome
  }

  /** A refusal that waits for people is told where they look: on the owner. */
  async #explaining<T>(object: KubeObject, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (classify(error).class !== 'transient') {
        const note = `${nameOf(object)} could not be written: ${error instanceof Error ? error.message : String(error)}`
        this.#deps.recorder.record(this.#owner, { type: 'Warning', reason: 'ApplyFailed', action: 'Apply', note })
      }
      throw error
    }
  }
}

function runsOfOneKind(objects: readonly KubeObject[]): KubeObject[][] {
  const runs: KubeObject[][] = []
  for (const object of objects) {
    const run = runs.at(-1)
    if (run?.[0]?.kind === object.kind) run.push(object)
    else runs.push([object])
  }
  return runs
}

function conflictCondition(conflicts: readonly string[]): Condition {
  const message = `${conflicts.join(', ')} exists and is not controlled by this object: rename or delete one of them`
  return { type: 'Conflict', status: 'True', reason: 'NotControlled', message }
}

async function unlessExists(creation: Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

function hasAnnotations({ metadata }: KubeObject, annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).every(([key, value]) => metadata.annotations?.[key] === value)
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`
}

/** As it will look after its way through the server: members that are undefined are not there. */
function plainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
