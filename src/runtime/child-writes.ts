/** The writes of a plan to child objects, in the order of the plan. */
import type { Annotated, Contribution, PlannedWrite, Report } from '../decision/plan.ts'
import { isAlreadyExists, isNotFound, isOtherUid } from '../kube/errors.ts'
import { apiVersionOf, keyOf, type KubeObject, nameWithKind, type Resource } from '../kube/object.ts'
import { timestamp } from '../kube/time.ts'
import { kindRuns } from './kind-runs.ts'
import { type ForeignObject, NameConflict } from './name-conflict.ts'
import { beside, controlled, isControlledBy } from './ownership.ts'
import type { Pass } from './pass.ts'
import { slowStart } from './slow-start.ts'
import { mergePatch, stamped } from './status.ts'

/** What a write found instead of an object of the owner. */
interface Outcome {
  /** An object with the name of a child. It ends the pass. */
  readonly conflict?: ForeignObject
  /** `Kind/name` of an object that was not annotated. */
  readonly spared?: string
}

const DONE: Outcome = {}

/**
 * Writes mode by mode and kind by kind. Throws a `NameConflict` after a kind with an object of that name that the owner does
 * not control. Returns the names of objects that were not annotated for that reason.
 */
export async function writeChildren(pass: Pass, writes: readonly PlannedWrite[]): Promise<string[]> {
  if (writes.some((write) => isRecreation(pass, write))) await pass.demandCurrent()
  const spared: string[] = []
  for (const run of kindRuns(writes)) {
    const outcomes = await slowStart(run, (write) => writeOne(pass, write))
    const conflicts = outcomes.flatMap(({ conflict }) => conflict ?? [])
    if (conflicts.length > 0) throw new NameConflict(pass.owner, conflicts)
    spared.push(...outcomes.flatMap((outcome) => outcome.spared ?? []))
  }
  return spared
}

/** The object was deleted before: by mistake, or by a newer plan that the stale owner does not show. */
function isRecreation({ applier, owner }: Pass, { how, object }: PlannedWrite): boolean {
  if (how !== 'apply' && how !== 'create') return false
  const cache = applier.cacheOf(object)
  const key = keyOf(beside(object, owner))
  return cache.hasGone(key) && !cache.get(key)
}

function writeOne(pass: Pass, write: PlannedWrite): Promise<Outcome> {
  if (write.how === 'annotate') return annotate(pass, write)
  if (write.how === 'report') return report(pass, write)
  return write.how === 'contribute' ? contribute(pass, write) : WRITERS[write.how](pass, write.object)
}

const WRITERS = { apply, create, createUnowned, createRecord, createUnread }

async function apply({ applier, owner, call, metrics }: Pass, object: KubeObject): Promise<Outcome> {
  const outcome = await applier.apply(owner, object, call)
  metrics.committed(object.kind, outcome.action)
  return outcome.action === 'conflict' ? { conflict: outcome.foreign } : DONE
}

/** The cache may not have the object yet: then the server answers AlreadyExists, and the object itself says whose it is. */
async function create({ applier, owner, call, metrics }: Pass, object: KubeObject): Promise<Outcome> {
  const child = controlled(object, owner)
  const cache = applier.cacheOf(child)
  const known = cache.get(keyOf(child))
  const live = known ?? (await createdOrExisting(call, cache.resource, child))
  const { apiVersion, kind } = child
  if (!isControlledBy(live, owner))
    return { conflict: { resource: cache.resource, object: { ...live, apiVersion, kind } } }
  metrics.committed(kind, known ? 'skipped' : 'applied')
  return DONE
}

async function createdOrExisting(
  { client, signal }: Pass['call'],
  resource: Resource,
  child: KubeObject,
): Promise<KubeObject> {
  try {
    return await client.create(resource, child, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return client.get(resource, keyOf(child), { signal })
  }
}

async function createUnowned({ applier, owner, call }: Pass, object: KubeObject): Promise<Outcome> {
  const data = beside(object, owner)
  const cache = applier.cacheOf(data)
  if (cache.get(keyOf(data))) return DONE
  return ignoreExisting(call.client.create(cache.resource, data, { signal: call.signal }))
}

async function createRecord({ applier, owner, call, metrics }: Pass, object: KubeObject): Promise<Outcome> {
  const record = beside(object, owner)
  const cache = applier.cacheOf(record)
  const known = cache.get(keyOf(record))
  const live = known ?? (await createdOrExisting(call, cache.resource, record))
  const { apiVersion, kind } = record
  if (!hasLabels(live, record.metadata.labels ?? {}))
    return { conflict: { resource: cache.resource, object: { ...live, apiVersion, kind } } }
  metrics.committed(kind, known ? 'skipped' : 'applied')
  return DONE
}

async function createUnread({ owner, call, unread }: Pass, object: KubeObject): Promise<Outcome> {
  const child = controlled(object, owner)
  const isOfKind = (resource: Resource): boolean =>
    resource.kind === child.kind && apiVersionOf(resource) === child.apiVersion
  const resource = unread.find(isOfKind)
  if (!resource) throw new Error(`${child.kind} has the mode createUnread but is not declared as unread`)
  return ignoreExisting(call.client.create(resource, child, { signal: call.signal }))
}

/** Ignores objects that are gone or replaced. */
async function annotate(pass: Pass, { object, annotations }: Annotated): Promise<Outcome> {
  if (!pass.isOurs(object)) return { spared: nameWithKind(object) }
  if (hasAnnotations(object, annotations)) return DONE
  const { client, signal } = pass.call
  const { uid, resourceVersion } = object.metadata
  if (uid === undefined) throw new Error(`${nameWithKind(object)} has no uid: annotate only what was observed`)
  const { resource } = pass.applier.cacheOf(object)
  try {
    await client.patch(resource, keyOf(object), { metadata: { uid, resourceVersion, annotations } }, { signal })
    pass.metrics.committed(object.kind, 'annotated')
  } catch (error) {
    if (!isOtherUid(error) && !isNotFound(error)) throw error
  }
  return DONE
}

/** With the uid, so that it neither creates the object nor changes another one of that name. */
async function contribute({ applier, owner, call, metrics }: Pass, write: Contribution): Promise<Outcome> {
  const { fieldManager } = write
  const object = beside(write.object, owner)
  if (object.metadata.uid === undefined)
    throw new Error(`${nameWithKind(object)} has no uid: contribute only to what was observed`)
  await call.client.apply(applier.cacheOf(object).resource, object, { fieldManager, signal: call.signal })
  metrics.committed(object.kind, 'applied')
  return DONE
}

/** With the observed resourceVersion: others write the same status. Ignores objects that are gone or replaced. */
async function report(pass: Pass, { object, status }: Report): Promise<Outcome> {
  if (!pass.isOurs(object)) return { spared: nameWithKind(object) }
  const { client, signal } = pass.call
  const { uid, resourceVersion } = object.metadata
  if (uid === undefined) throw new Error(`${nameWithKind(object)} has no uid: report only on what was observed`)
  const { status: before = {} } = object as KubeObject & { readonly status?: object }
  const patch = mergePatch(before, stamped(status, before, timestamp(pass.now())))
  if (patch === undefined) return DONE
  const { resource } = pass.applier.cacheOf(object)
  try {
    const body = { metadata: { uid, resourceVersion }, status: patch }
    await client.patch(resource, keyOf(object), body, { subresource: 'status', signal })
    pass.metrics.committed(object.kind, 'status')
  } catch (error) {
    if (!isOtherUid(error) && !isNotFound(error)) throw error
  }
  return DONE
}

async function ignoreExisting(creation: Promise<unknown>): Promise<Outcome> {
  try {
    await creation
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  return DONE
}

function hasLabels({ metadata }: KubeObject, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value)
}

function hasAnnotations({ metadata }: KubeObject, annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).every(([key, value]) => metadata.annotations?.[key] === value)
}
