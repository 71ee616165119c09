/**
 * Executes a plan: deletes children → writes children → writes the status → publishes events → deletes unowned data, evicts
 * pods and deletes the owner. All children and the status of an object are written here. `src/source-rules.test.ts` lists the few other writers:
 * finalizers, the leader's Lease, Events and the webhook's certificates.
 *
 * Guarantees
 * - Order: a child is written only after the children to delete are. The status is written only after all children
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
 *   owner unchanged. Data that outlives its owner is deleted only after a live read has shown the owner terminating.
 * - A pod is evicted only in a pass that did not change the status: the status that records the decision is stored before.
 * - `lastTransitionTime` is set here, so planners need no clock.
 *
 * Assumptions
 * - Names of children are deterministic, and all their kinds are cached, except those of the mode `createUnread`.
 * - `owner` is the object that the plan was made from.
 * - The client is that of the reconcile context, so that the next reconcile waits for these writes.
 */
import type { EventNote, Plan } from '../decision/plan.ts'
import { keyOf, type KubeObject, type Resource } from '../kube/object.ts'
import { timestamp } from '../kube/time.ts'
import { Applier, type WriteCall } from './applier.ts'
import type { Caches } from './caches.ts'
import { writeChildren } from './child-writes.ts'
import type { Clock } from './clock.ts'
import type { Result } from './controller.ts'
import { deleteChildren, deleteOwner, deleteUnowned, evictPods } from './deletions.ts'
import { decisionLine } from './decision-line.ts'
import { currencyCheck } from './live-owner.ts'
import type { Recorder } from './events.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { isDescendant } from './ownership.ts'
import type { Note } from './log.ts'
import type { Pass } from './pass.ts'
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
  /** Kinds that are created but never read: those that a plan may write with the mode `createUnread`. */
  readonly unread?: readonly Resource[]
  /** Fields of the status whose changes are logged. */
  readonly highlights?: readonly string[]
}

export type Commit = <S>(owner: Owner<S>, plan: Plan<S>, call: WriteCall) => Promise<CommitResult>

export function committer(deps: CommitDeps): Commit {
  const applier = new Applier(deps.caches)
  return async (owner, plan, call) => {
    const pass = passOf(deps, { applier, owner, call })
    const { writes, deletions, status, events, requeueAfterMs } = plan
    const spared = await deleteChildren(pass, deletions)
    const foreign = [...spared, ...(await writeChildren(pass, writes))]
    const isChanged = await writeStatus(pass, status, deps.clock)
    const due = isChanged || status === undefined ? events : []
    publish(owner, due, deps.recorder)
    logDecision(owner, { ...plan, events: due }, { note: call.note, highlights: deps.highlights })
    await deleteUnowned(pass, deletions)
    if (!isChanged) await evictPods(pass, deletions)
    if (!isChanged) await deleteOwner(pass, deletions)
    return requeueAfterMs === undefined ? { foreign } : { foreign, requeueAfterMs }
  }
}

function passOf(deps: CommitDeps, { applier, owner, call }: Pick<Pass, 'applier' | 'owner' | 'call'>): Pass {
  const { caches, metrics, clock, unread = [] } = deps
  const observedOwner = { owner, call, resource: applier.cacheOf(owner).resource }
  return {
    owner,
    observedOwner,
    call,
    applier,
    metrics,
    now: () => clock.now(),
    unread,
    isOurs: (object) => isDescendant(object, owner, caches),
    demandCurrent: currencyCheck(observedOwner),
  }
}

/** Returns true if the status has changed. */
async function writeStatus({ owner, applier, call, metrics }: Pass, status: unknown, clock: Clock): Promise<boolean> {
  if (status === undefined) return false
  const { client, signal } = call
  const { status: before } = owner as Owner
  const wanted = toPlainJson(stamped(status, before, timestamp(clock.now())))
  const patch = mergePatch(before ?? {}, wanted)
  if (patch === undefined) return false
  const { resourceVersion } = owner.metadata
  const body = { metadata: { resourceVersion }, status: patch }
  await client.patch(applier.cacheOf(owner).resource, keyOf(owner), body, { subresource: 'status', signal })
  metrics.committed(owner.kind, 'status')
  return true
}

function publish(owner: KubeObject, events: readonly EventNote[], recorder: Recorder): void {
  for (const event of events) recorder.record(owner, event)
}

function logDecision(
  owner: Owner,
  plan: Plan,
  { note, highlights = [] }: { readonly note: Note | undefined; readonly highlights: readonly string[] | undefined },
): void {
  const line = note && decisionLine(owner, plan, highlights)
  if (line) note(line.level, line.fields, 'decided')
}

/** The value as the server stores it: without undefined members. */
function toPlainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
