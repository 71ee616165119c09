/**
 * Fields that other field managers added to a child, found in `metadata.managedFields`.
 *
 * Server-side apply does not remove fields that were never applied: a key added to a ConfigMap, `paused` on a Deployment,
 * another container. A comparison with the intent cannot distinguish them from defaults of the server or from the changes of an
 * admission webhook, but the field manager can: only the request of another client makes it an owner.
 *
 * The metadata of the object, the status, and labels and annotations at any depth are ignored: all clients may set them.
 */
import type { KubeObject } from '../kube/object.ts'
import { INTENT_ANNOTATION, isEmpty, isRecord, type Json } from './intent.ts'

/** Only the operator may set the fields of a kind. */
export interface Exclusive {
  /** Paths that others may set too, such as `spec.replicas`. */
  readonly except?: readonly string[]
}

/** Field manager of removals. It owns only the defaults that replace removed values. */
export const REPAIR_MANAGER = 'commit.runtime-repair'

/** A set in the format `FieldsV1`: `f:` a field, `k:` an item by its keys, `v:` an item by its value, `.` the value itself. */
interface FieldSet {
  readonly [part: string]: FieldSet
}

interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly fieldsV1?: FieldSet
}

interface Managed {
  readonly managedFields?: readonly ManagedFields[]
}

/** The object with only the `managedFields` of others: usually none, so keeping them costs no memory. */
export function withForeignFields<T extends KubeObject>(object: T, { except = [] }: Exclusive): T {
  const { managedFields = [], ...metadata } = object.metadata as T['metadata'] & Managed
  const foreign = managedFields.flatMap((entry) => foreignPart(entry, except))
  return { ...object, metadata: foreign.length === 0 ? metadata : { ...metadata, managedFields: foreign } }
}

function foreignPart(entry: ManagedFields, except: readonly string[]): ManagedFields[] {
  const { manager = '', subresource = '', fieldsV1 = {} } = entry
  if (subresource !== '' || manager === REPAIR_MANAGER || isOwnApply(entry)) return []
  const { 'f:metadata': _metadata, 'f:status': _status, ...rest } = fieldsV1
  const fields = except.reduce((left: FieldSet, path) => without(left, path.split('.')), rest)
  return Object.keys(fields).length === 0 ? [] : [{ manager, fieldsV1: fields }]
}

/** Recognised by the intent annotation, which only `commit` sets: the name of the manager does not matter. */
function isOwnApply({ operation, fieldsV1 }: ManagedFields): boolean {
  const annotation = fieldsV1?.['f:metadata']?.['f:annotations']?.[`f:${INTENT_ANNOTATION}`]
  return operation === 'Apply' && annotation !== undefined
}

function without(fields: FieldSet, [first, ...rest]: readonly string[]): FieldSet {
  const part = `f:${first ?? ''}`
  const { [part]: below, ...others } = fields
  if (below === undefined || rest.length === 0) return others
  const left = without(below, rest)
  return Object.keys(left).every((key) => key === '.') ? others : { ...others, [part]: left }
}

export interface Additions {
  /** Everything that others added, as `path=value`. */
  readonly found: readonly string[]
  /** The object without additions that need a removal. Atomic values are replaced when the intent is applied. */
  readonly without: KubeObject
}

export function additions(intent: KubeObject, live: KubeObject): Additions {
  const found: string[] = []
  const { managedFields = [] } = live.metadata as Managed
  const pruned = managedFields.reduce(
    (value: unknown, { fieldsV1 = {} }) => pruneAt({ fields: fieldsV1, intent, live: value, path: '', found }),
    live,
  )
  return { found, without: pruned as KubeObject }
}

/** One path in the fields of others, in the intent and in the object. */
interface Place {
  readonly fields: FieldSet
  readonly intent: unknown
  readonly live: unknown
  readonly path: string
  readonly found: string[]
}

function pruneAt(place: Place): unknown {
  const { fields, intent, live, path, found } = place
  if (isLeaf(fields)) {
    if (hasMore(intent, live)) found.push(`${path}=${JSON.stringify(live)}`)
    return live
  }
  if (Array.isArray(live)) return pruneList(place, live)
  return isRecord(live) ? pruneRecord(place, live) : live
}

function pruneRecord({ fields, intent, path, found }: Place, live: Json): Json {
  let pruned = live
  for (const [part, below] of Object.entries(path.endsWith('.metadata') ? withoutLabels(fields) : fields)) {
    const name = part.slice(2)
    const value = live[name]
    if (!part.startsWith('f:') || isEmpty(value)) continue
    const wanted = isRecord(intent) ? intent[name] : undefined
    const at = path === '' ? name : `${path}.${name}`
    if (wanted === undefined) {
      found.push(`${at}=${JSON.stringify(value)}`)
      const { [name]: _added, ...others } = pruned
      pruned = others
    } else {
      const kept = pruneAt({ fields: below, intent: wanted, live: value, path: at, found })
      if (kept !== value) pruned = { ...pruned, [name]: kept }
    }
  }
  return pruned
}

/** Of the metadata of a template. That of the object itself is left out when it is cached. */
function withoutLabels({ 'f:labels': _labels, 'f:annotations': _annotations, ...others }: FieldSet): FieldSet {
  return others
}

function pruneList({ fields, intent, path, found }: Place, live: readonly unknown[]): readonly unknown[] {
  const wanted = Array.isArray(intent) ? (intent as readonly unknown[]) : []
  const pruned = live.flatMap((item): readonly unknown[] => {
    const part = Object.keys(fields).find((key) => identifies(key, item))
    if (part === undefined) return [item]
    const match = wanted.find((one) => identifies(part, one, { isPartial: true }))
    const at = `${path}[${part.slice(2)}]`
    if (match === undefined) {
      found.push(`${at}=${JSON.stringify(item)}`)
      return []
    }
    const below = fields[part] ?? {}
    return isLeaf(below) ? [item] : [pruneAt({ fields: below, intent: match, live: item, path: at, found })]
  })
  return pruned.every((item, position) => item === live[position]) && pruned.length === live.length ? live : pruned
}

/** `isPartial`: the intent may omit a key that has a default. */
function identifies(part: string, item: unknown, { isPartial = false } = {}): boolean {
  if (part.startsWith('v:')) return part.slice(2) === JSON.stringify(item)
  if (!part.startsWith('k:') || !isRecord(item)) return false
  const keys = Object.entries(JSON.parse(part.slice(2)) as Json)
  return keys.every(([key, value]) => item[key] === value || (isPartial && item[key] === undefined))
}

const isLeaf = (fields: FieldSet): boolean => Object.keys(fields).every((part) => part === '.')

/** An atomic value has more members than intended. */
function hasMore(intent: unknown, live: unknown): boolean {
  if (Array.isArray(intent) && Array.isArray(live))
    return live.length > intent.length || live.some((item, position) => hasMore(intent[position], item))
  if (!isRecord(intent) || !isRecord(live)) return false
  return Object.entries(live).some(
    ([key, value]) => !isEmpty(value) && (intent[key] === undefined || hasMore(intent[key], value)),
  )
}
