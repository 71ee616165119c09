/** The deletions of a plan: only objects that the owner controls, by their observed uid, never from a stale cache. */
import type { DeleteMode, Deletion } from '../decision/plan.ts'
import type { DeleteOptions } from '../kube/client.ts'
import { isPreconditionFailed } from '../kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind } from '../kube/object.ts'
import { RuntimeError } from './errors.ts'
import { readOwner } from './live-owner.ts'
import { kindRuns } from './kind-runs.ts'
import type { Pass } from './pass.ts'
import { slowStart } from './slow-start.ts'

const OPTIONS: Readonly<Record<Exclude<DeleteMode, 'owner'>, DeleteOptions>> = {
  graceful: { propagationPolicy: 'Background' },
  force: { gracePeriodSeconds: 0 },
  unowned: { propagationPolicy: 'Background' },
}

/**
 * Deletes children, kind by kind in the order of the plan, so that dependants go before their dependencies. Before a graceful
 * deletion a live read must show the owner unchanged. Returns the names of objects that the owner does not control.
 */
export async function deleteChildren(pass: Pass, deletions: readonly Deletion[]): Promise<string[]> {
  const children = deletions.filter(({ how }) => how === 'graceful' || how === 'force')
  const ours = children.filter(({ object }) => pass.isOurs(object))
  const due = ours.filter(({ how, object }) => how === 'force' || object.metadata.deletionTimestamp === undefined)
  if (due.some(({ how }) => how === 'graceful')) await pass.demandCurrent()
  for (const run of kindRuns(due)) await slowStart(run, (deletion) => deleteOne(pass, deletion))
  return children.filter((deletion) => !ours.includes(deletion)).map(({ object }) => nameWithKind(object))
}

/** Deletes data that outlives its owner and cannot be recreated: first a live read must show the owner terminating. */
export async function deleteUnowned(pass: Pass, deletions: readonly Deletion[]): Promise<void> {
  const data = deletions.filter(({ how }) => how === 'unowned')
  if (data.length === 0) return
  if ((await readOwner(pass.observedOwner))?.metadata.deletionTimestamp === undefined)
    throw new RuntimeError('Transient', `${nameWithKind(pass.owner)} is not being deleted: its data is kept`)
  await slowStart(data, (deletion) => deleteOne(pass, deletion))
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
