/** The deletions of a plan: only objects that the owner controls, by their observed uid, never from a stale cache. */
import type { DeleteMode, Deletion } from '../decision/plan.ts'
import type { DeleteOptions } from '../kube/client.ts'
import { isBudgetExhausted, isPreconditionFailed } from '../kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind } from '../kube/object.ts'
import { RuntimeError } from './errors.ts'
import { readOwner } from './live-owner.ts'
import { kindRuns } from './kind-runs.ts'
import type { Pass } from './pass.ts'
import { slowStart } from './slow-start.ts'

const OPTIONS: Readonly<Record<Exclude<DeleteMode, 'owner'>, DeleteOptions>> = {
  graceful: { propagationPolicy: 'Background' },
  foreground: { propagationPolicy: 'Foreground' },
  force: { gracePeriodSeconds: 0 },
  record: { propagationPolicy: 'Background' },
  unowned: { propagationPolicy: 'Background' },
  evict: {},
}

/** Modes of children. The others are executed later in the commit. */
const CHILD_MODES: readonly DeleteMode[] = ['graceful', 'foreground', 'force', 'record']

/**
 * Deletes children, kind by kind in the order of the plan, so that dependants go before their dependencies. Before a graceful
 * deletion a live read must show the owner unchanged. Returns the names of objects that the owner does not control.
 */
export async function deleteChildren(pass: Pass, deletions: readonly Deletion[]): Promise<string[]> {
  const children = deletions.filter(({ how }) => CHILD_MODES.includes(how))
  const ours = children.filter((deletion) => mayDelete(pass, deletion))
  const due = ours.filter(({ how, object }) => how === 'force' || object.metadata.deletionTimestamp === undefined)
  if (due.some(({ how }) => how !== 'force')) await pass.demandCurrent()
  for (const run of kindRuns(due)) await slowStart(run, (deletion) => deleteOne(pass, deletion))
  return children.filter((deletion) => !ours.includes(deletion)).map(({ object }) => nameWithKind(object))
}

/** A record has no owner at all. */
function mayDelete({ owner, isOurs }: Pass, { how, object }: Deletion): boolean {
  if (how !== 'record') return isOurs(object)
  const { namespace, ownerReferences = [] } = object.metadata
  return namespace === owner.metadata.namespace && ownerReferences.length === 0
}

/** Deletes data that outlives its owner and cannot be recreated: first a live read must show the owner terminating. */
export async function deleteUnowned(pass: Pass, deletions: readonly Deletion[]): Promise<void> {
  const data = deletions.filter(({ how }) => how === 'unowned')
  if (data.length === 0) return
  if ((await readOwner(pass.observedOwner))?.metadata.deletionTimestamp === undefined)
    throw new RuntimeError('Transient', `${nameWithKind(pass.owner)} is not being deleted: its data is kept`)
  await slowStart(data, (deletion) => deleteOne(pass, deletion))
}

/**
 * Evicts pods. A pod that a PodDisruptionBudget protects now stays: the plan is made again later. As for any deletion, a live
 * read must show the owner unchanged.
 */
export async function evictPods(pass: Pass, deletions: readonly Deletion[]): Promise<void> {
  const pods = deletions.filter(({ how, object }) => how === 'evict' && isEvictable(pass, object))
  if (pods.length === 0) return
  await pass.demandCurrent()
  for (const { object } of pods) await evictOne(pass, object)
}

const isEvictable = ({ isOurs }: Pass, object: KubeObject): boolean =>
  object.metadata.deletionTimestamp === undefined && isOurs(object)

async function evictOne({ call, metrics }: Pass, pod: KubeObject): Promise<void> {
  const { uid } = pod.metadata
  if (uid === undefined) throw new Error(`${nameWithKind(pod)} has no uid: evict only what was observed`)
  try {
    await call.client.evict(keyOf(pod), { uid, signal: call.signal })
    metrics.committed(pod.kind, 'pruned')
  } catch (error) {
    if (!isBudgetExhausted(error) && !isPreconditionFailed(error)) throw error
  }
}

/** Deletes the owner if the plan says so. */
export async function deleteOwner(pass: Pass, deletions: readonly Deletion[]): Promise<void> {
  for (const deletion of deletions.filter(({ how }) => how === 'owner')) await deleteOne(pass, deletion)
}

async function deleteOne(pass: Pass, { how, object }: Deletion): Promise<void> {
  const { applier, metrics, call } = pass
  const { resource } = applier.cacheOf(object)
  const { uid } = object.metadata
  if (uid === undefined) throw new Error(`${nameWithKind(object)} has no uid: delete only what was observed`)
  try {
    await call.client.delete(resource, keyOf(object), { uid, signal: call.signal, ...optionsOf(how, object) })
    metrics.committed(object.kind, 'pruned')
  } catch (error) {
    // The name belongs to another uid or a newer version: the observed object is gone.
    if (!isPreconditionFailed(error)) throw error
  }
}

function optionsOf(how: DeleteMode, { metadata: { resourceVersion = '' } }: KubeObject): DeleteOptions {
  return how === 'owner' ? { resourceVersion, propagationPolicy: 'Background' } : OPTIONS[how]
}
