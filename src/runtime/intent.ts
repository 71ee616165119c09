/**
 * What we want of an object, and whether what is there already says so. The comparison decides if a write is needless,
 * so it must see every change of ours and every drift, and nothing that the server or others add.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../kube/object.ts'
import { compareQuantity, parseQuantity } from '../kube/quantity.ts'

/** Carries the digest of the intent that was applied last. It tells when a field was dropped, which no comparison can. */
export const INTENT_ANNOTATION = 'commit.runtime/intent'

/** The intent with its own digest written on it. */
export function marked<T extends KubeObject>(intent: T): T {
  const annotations = { ...intent.metadata.annotations, [INTENT_ANNOTATION]: digest(intent) }
  return { ...intent, metadata: { ...intent.metadata, annotations } }
}

/** Equal for equal content, whatever the order of keys; undefined members count as absent. */
export function digest(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('base64url').slice(0, 22)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (isRecord(member) ? sorted(member) : member))
}

function sorted(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/**
 * Where `live` contradicts `intent`, as `path=value`. Empty when everything that is wanted is there.
 *
 * - Records: every wanted member, others are ignored (defaults, fields of other managers).
 * - Lists of records: every wanted item has its match, by `name` or `uid` where items have one, else any; others are
 *   ignored (injected volumes, default tolerations). Other lists are compared whole.
 * - An empty value and an absent one are the same: the server drops many of them.
 * - Quantities are compared by amount where Kubernetes has quantities: the server rewrites `1000m` as `1`.
 */
export function drift(intent: unknown, live: unknown, path = ''): string[] {
  if (isEmpty(intent) && isEmpty(live)) return []
  if (Array.isArray(intent) && Array.isArray(live)) return driftOfList(intent, live, path)
  if (isRecord(intent) && isRecord(live)) return driftOfRecord(intent, live, path)
  return isSame(intent, live, path) ? [] : [`${path}=${canonical(live) ?? 'absent'}`]
}

type Json = Readonly<Record<string, unknown>>

function driftOfRecord(intent: Json, live: Json, path: string): string[] {
  return Object.entries(intent).flatMap(([key, wanted]) => drift(wanted, live[key], path ? `${path}.${key}` : key))
}

function driftOfList(intent: readonly unknown[], live: readonly unknown[], path: string): string[] {
  if (!intent.every(isRecord)) return canonical(intent) === canonical(live) ? [] : [`${path}=${canonical(live)}`]
  return intent.flatMap((wanted, position) => driftOfItem(wanted, live, `${path}[${position}]`))
}

function driftOfItem(wanted: Json, live: readonly unknown[], path: string): string[] {
  const identity = ['name', 'uid'].find((key) => typeof wanted[key] === 'string')
  if (identity === undefined)
    return live.some((item) => drift(wanted, item, path).length === 0) ? [] : [`${path}=absent`]
  const match = live.find((item) => isRecord(item) && item[identity] === wanted[identity])
  return drift(wanted, match, path)
}

const QUANTITY_PATH = /\.(limits|requests|capacity|hard)\.[^.]+$|\.(sizeLimit|averageValue|value)$/

function isSame(intent: unknown, live: unknown, path: string): boolean {
  if (intent === live) return true
  return QUANTITY_PATH.test(path) && isAmount(intent) && isAmount(live) && isSameAmount(intent, live)
}

function isSameAmount(one: string | number, other: string | number): boolean {
  try {
    return compareQuantity(parseQuantity(one), parseQuantity(other)) === 0
  } catch {
    return false
  }
}

function isAmount(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}
