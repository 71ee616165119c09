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
 * - By a plan from a stale cache nothing is deleted, and nothing that went is made again: a live read has to show the
 *   owner as the plan saw it. Data that outlives its owner is discarded only after a live read has shown that very owner being deleted.
 * - `lastTransitionTime` is stamped here, so planners need no clock.
 *
 * Assumptions
 * - Names of children are deterministic, and all their kinds are cached, but for those of `create`.
 * - `owner` is the object that the plan was made from.
 * - The client is the one of the reconcile context, so the next reconcile sees what was written.
 */
import { isAlreadyExists, isNotFound, isOtherUid } from '../kube/errors.ts'
import { apiVersionOf, keyOf, type KubeObject, nameWithKind, type Resource } from '../kube/object.ts'
import type { Annotated, EventNote, Plan } from '../kube/plan.ts'
import { Applier, type WriteCall } from './applier.ts'
import type { Caches } from './caches.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Result } from './controller.ts'
import { Deletions } from './deletions.ts'
import { classify } from './errors.ts'
import { demandCurrent, type OwnerAtHand } from './live-owner.ts'
import type { Recorder } from './events.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { beside, controlled, isDescendant } from './ownership.ts'
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
    const isOurs = (object: KubeObject): boolean => isDescendant(object, owner, deps.caches)
    const pass = new Pass(deps, { applier, owner, call, isOurs })
    const deletions = new Deletions({ applier, owner, call, isOurs, metrics: deps.metrics })
    const foreign = [...(await deletions.prune(plan.prune)), ...(await deletions.force(plan.force ?? []))]
    await pass.keep(plan.keep ?? [])
    await pass.create(plan.create ?? [])
    const conflicts = [...foreign, ...(await pass.apply(plan.apply)), ...(await pass.annotate(plan.annotate ?? []))]
    const news = await pass.writeStatus(plan.status, conflicts)
    if (news || plan.status === undefined) pass.publish(plan.events, conflicts)
    await deletions.discard(plan.discard ?? [])
    if (plan.expired && !news) await deletions.owner()
    return result(plan, conflicts)
  }
}

function result({ requeueAfterMs }: Plan, conflicts: readonly string[]): CommitResult {
  if (conflicts.length > 0)
    return { conflicts, requeueAfterMs: Math.min(requeueAfterMs ?? Infinity, CONFLICT_RETRY_MS) }
  return requeueAfterMs === undefined ? { conflicts } : { conflicts, requeueAfterMs }
}

interface Subject {
  readonly applier: Applier
  readonly owner: Owner
  readonly call: WriteCall
  readonly isOurs: (object: KubeObject) => boolean
}

/** One plan on its way, but for what it deletes. */
class Pass {
  readonly #deps: CommitDeps
  readonly #applier: Applier
  readonly #owner: Owner
  readonly #call: WriteCall
  readonly #isOurs: Subject['isOurs']

  constructor(deps: CommitDeps, { applier, owner, call, isOurs }: Subject) {
    this.#deps = deps
    this.#applier = applier
    this.#owner = owner
    this.#call = call
    this.#isOurs = isOurs
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
    if (objects.some((object) => this.#isBroughtBack(object))) await demandCurrent(this.#atHand)
    for (const run of runsOfOneKind(objects)) {
      const outcomes = await slowStart(run, (object) => this.#apply(object))
      conflicts.push(...run.filter((_, position) => outcomes[position] === 'conflict').map(nameWithKind))
    }
    return conflicts
  }

  /** Answers with the names of what is not ours. What is gone, or has its name from another by now, needs nothing. */
  async annotate(targets: readonly Annotated[]): Promise<string[]> {
    const ours = targets.filter(({ object }) => this.#isOurs(object))
    const lacking = ours.filter(({ object, annotations }) => !hasAnnotations(object, annotations))
    await slowStart(lacking, (target) => this.#annotate(target))
    return targets.filter((target) => !ours.includes(target)).map(({ object }) => nameWithKind(object))
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

  publish(events: readonly EventNote[], conflicts: readonly string[]): void {
    const { recorder } = this.#deps
    for (const event of events) recorder.record(this.#owner, event)
    if (conflicts.length === 0) return
    const { message: note } = conflictCondition(conflicts)
    recorder.record(this.#owner, { type: 'Warning', reason: 'Conflict', action: 'Apply', note })
  }

  /** It was there and went: by somebody's mistake, or because a plan of which the owner at hand knows nothing let go of it. */
  #isBroughtBack(object: KubeObject): boolean {
    const cache = this.#applier.cacheOf(object)
    const key = keyOf(beside(object, this.#owner))
    return cache.hasGone(key) && !cache.get(key)
  }

  get #atHand(): OwnerAtHand {
    return { owner: this.#owner, call: this.#call, resource: this.#applier.cacheOf(this.#owner).resource }
  }

  async #annotate({ object, annotations }: Annotated): Promise<void> {
    const { client, signal } = this.#call
    const { uid } = object.metadata
    if (uid === undefined) throw new Error(`${nameWithKind(object)} has no uid: annotate only what was observed`)
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
        const note = `${nameWithKind(object)} could not be written: ${error instanceof Error ? error.message : String(error)}`
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

/** As it will look after its way through the server: members that are undefined are not there. */
function plainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
