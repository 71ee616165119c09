/**
 * Carries out a plan: prune → keep → apply → status → events. Nothing else writes for an object.
 *
 * Guarantees
 * - Order: a child is applied only after everything to prune was deleted, the status is written only after all children
 *   are as planned, an event is published only after the status that explains it was stored, and not at all in a pass
 *   that changed no status. The first failure ends the pass; running the same plan again completes it.
 * - A converged object costs no write: children that already are as intended are skipped (see `Applier`), a status that
 *   is deep-equal is skipped. Drift is still repaired, by comparing all intended fields with the cached object.
 * - Only what the owner controls is touched. Deletes carry the uid; an update names the uid it saw; a creation never
 *   becomes an update. What exists under a planned name and is not controlled by the owner is left alone and reported:
 *   in `conflicts`, as condition `Conflict`, as an event, and looked at again after `CONFLICT_RETRY_MS`.
 * - The status is written with the resourceVersion that the plan was made from: a plan from a stale cache conflicts.
 * - `lastTransitionTime` is stamped here, so planners need no clock.
 *
 * Assumptions
 * - Names of children are deterministic, and all their kinds are cached.
 * - `owner` is the object that the plan was made from.
 * - The client is the one of the reconcile context, so the next reconcile sees what was written.
 */
import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import { Applier, type WriteCall } from './applier.ts'
import type { Caches } from './caches.ts'
import { type Clock, timestamp } from './clock.ts'
import type { Result } from './controller.ts'
import { classify } from './errors.ts'
import type { EventNote, Recorder } from './events.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { isControlledBy } from './ownership.ts'
import { slowStart } from './slow-start.ts'
import { type Condition, mergePatch, stamped, withCondition } from './status.ts'

export interface Plan<Status = unknown> {
  /** Children as they should be; the owner reference is added here. Objects of one kind in a row go in parallel. */
  readonly apply: readonly KubeObject[]
  /** Children, as observed, that should be gone. */
  readonly prune: readonly KubeObject[]
  /** Created when absent, without an owner, and never changed or deleted afterwards: data that outlives its owner. */
  readonly keep?: readonly KubeObject[]
  /** The whole status, without times. Absent: the status is left alone. */
  readonly status?: Status
  readonly events: readonly EventNote[]
  readonly requeueAfterMs?: number
}

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
}

export type Commit = <S>(owner: Owner<S>, plan: Plan<S>, call: WriteCall) => Promise<CommitResult>

const CONFLICT_RETRY_MS = 60_000

export function committer(deps: CommitDeps): Commit {
  const applier = new Applier(deps.caches)
  return async (owner, plan, call) => {
    const pass = new Pass(deps, applier, owner, call)
    const foreign = await pass.prune(plan.prune)
    await pass.keep(plan.keep ?? [])
    const conflicts = [...foreign, ...(await pass.apply(plan.apply))]
    const news = await pass.writeStatus(plan.status, conflicts)
    if (news || plan.status === undefined) pass.publish(plan.events, conflicts)
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
    const foreign = objects.filter((object) => !isControlledBy(object, this.#owner))
    const going = objects.filter((object) => !foreign.includes(object) && !object.metadata.deletionTimestamp)
    await slowStart(going, (object) => this.#delete(object))
    return foreign.map(nameOf)
  }

  async keep(objects: readonly KubeObject[]): Promise<void> {
    const { client, signal } = this.#call
    for (const object of objects) {
      const cache = this.#applier.cacheOf(object)
      if (cache.get(keyOf(object))) continue
      await this.#explaining(object, () => unlessExists(client.create(cache.resource, object, { signal })))
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

  async #delete(object: KubeObject): Promise<void> {
    const { client, signal } = this.#call
    const { resource } = this.#applier.cacheOf(object)
    const { uid } = object.metadata
    if (uid === undefined) throw new Error(`${nameOf(object)} has no uid: prune only what was observed`)
    try {
      await client.delete(resource, keyOf(object), { uid, propagationPolicy: 'Background', signal })
      this.#deps.metrics.committed(object.kind, 'pruned')
    } catch (error) {
      // Another uid has the name now: the one we meant is gone.
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

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`
}

/** As it will look after its way through the server: members that are undefined are not there. */
function plainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
