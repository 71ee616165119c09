/**
 * The intended state of an object, and its comparison with the live object. The comparison decides whether a write can be
 * skipped, so it must find every change of the intent and every drift of intended fields, but no defaults of the server.
 * `additions` finds the fields that others added.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../kube/object.ts'
import { compareQuantity, parseQuantity } from '../kube/quantity.ts'

/** Holds the digest of the last applied intent. It shows that a field was dropped, which a comparison cannot. */
export const INTENT_ANNOTATION = 'commit.runtime/intent'

/** The intent with its digest as an annotation. */
export function marked<T extends KubeObject>(intent: T): T {
  const annotations = { ...intent.metadata.annotations, [INTENT_ANNOTATION]: digest(intent) }
  return { ...intent, metadata: { ...intent.metadata, annotations } }
}

/**
 * Equal for equal content in equal order. Planners build objects in the same order every time, and the server sorts maps.
 * A different order costs one needless write; sorting here would cost more than the rest of a comparison.
 */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)
}

/**
 * Where `live` differs from `intent`, as `path=value`. Empty if `live` has all intended values.
 *
 * - Records: compares every intended member and ignores others (defaults, fields of other managers). Undefined members are
 *   not intended: JSON does not have them.
 * - Lists of records: every intended item must have a match, by `name` or `uid` if items have one, else any item. Other
 *   items are ignored (injected volumes, default tolerations). Other lists are compared as a whole.
 * - Empty and absent values are equal, because the server drops many empty values; except for fields that it stores if false.
 * - Quantities are compared by amount: the server rewrites `1000m` as `1`.
 */
export function drift(intent: unknown, live: unknown): readonly string[] {
  return driftAt({ intent, live, key: '', parent: '' })
}

/** Two values at the same path. `key` and `parent` are the last two names of the path. */
interface Pair {
  readonly intent: unknown
  readonly live: unknown
  readonly key: string
  readonly parent: string
}

export type Json = Readonly<Record<string, unknown>>

/** Paths are built on return, and only for drift: most objects have none. */
const NONE: readonly string[] = []

function driftAt(pair: Pair): readonly string[] {
  const { intent, live } = pair
  if (intent === live) return NONE
  if (Array.isArray(intent) && Array.isArray(live)) return driftOfList(intent, live)
  if (isRecord(intent) && isRecord(live)) return driftOfRecord(intent, live, pair.key)
  if (isSameEmpty(pair) || isSameQuantity(pair)) return NONE
  return [`=${live === undefined ? 'absent' : JSON.stringify(live)}`]
}

/** Fields for which absent means a default, not false: the server stores them as they are. */
const STORED_IF_FALSE: ReadonlySet<string> = new Set([
  'allowPrivilegeEscalation',
  'automountServiceAccountToken',
  'enableServiceLinks',
])

function isSameEmpty({ intent, live, key }: Pair): boolean {
  if (!isEmpty(intent) || !isEmpty(live)) return false
  return intent !== false || !STORED_IF_FALSE.has(key)
}

function driftOfRecord(intent: Json, live: Json, parent: string): readonly string[] {
  let found = NONE
  for (const key of Object.keys(intent)) {
    if (intent[key] === undefined) continue
    const below = driftAt({ intent: intent[key], live: live[key], key, parent })
    if (below.length > 0) found = [...found, ...below.map((rest) => joined(key, rest))]
  }
  return found
}

function driftOfList(intent: readonly unknown[], live: readonly unknown[]): readonly string[] {
  if (!intent.every(isRecord))
    return JSON.stringify(intent) === JSON.stringify(live) ? NONE : [`=${JSON.stringify(live)}`]
  let found = NONE
  for (const [position, wanted] of intent.entries()) {
    const below = driftOfItem(wanted, live)
    if (below.length > 0) found = [...found, ...below.map((rest) => joined(`[${position}]`, rest))]
  }
  return found
}

function driftOfItem(wanted: Json, live: readonly unknown[]): readonly string[] {
  const at = (item: unknown): Pair => ({ intent: wanted, live: item, key: '', parent: '' })
  const identity = typeof wanted['name'] === 'string' ? 'name' : typeof wanted['uid'] === 'string' ? 'uid' : undefined
  if (identity === undefined) return live.some((item) => driftAt(at(item)).length === 0) ? NONE : ['=absent']
  return driftAt(at(live.find((item) => isRecord(item) && item[identity] === wanted[identity])))
}

function joined(key: string, rest: string): string {
  return rest.startsWith('=') || rest.startsWith('[') ? `${key}${rest}` : `${key}.${rest}`
}

const QUANTITY_LISTS: ReadonlySet<string> = new Set(['limits', 'requests', 'capacity', 'hard'])
const QUANTITIES: ReadonlySet<string> = new Set(['emptyDir.sizeLimit', 'target.averageValue', 'target.value'])

function isSameQuantity({ intent, live, key, parent }: Pair): boolean {
  if (!QUANTITY_LISTS.has(parent) && !QUANTITIES.has(`${parent}.${key}`)) return false
  return isAmount(intent) && isAmount(live) && isSameAmount(intent, live)
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

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}
