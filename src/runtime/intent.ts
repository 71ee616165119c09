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

/**
 * Equal for equal content in equal order: a planner builds its objects in the same order every time, and maps that come
 * from the server are sorted. Another order costs one needless write; sorting would cost most of a comparison.
 */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)
}

/**
 * Where `live` contradicts `intent`, as `path=value`. Empty when everything that is wanted is there.
 *
 * - Records: every wanted member, others are ignored (defaults, fields of other managers).
 * - Lists of records: every wanted item has its match, by `name` or `uid` where items have one, else any; others are
 *   ignored (injected volumes, default tolerations), but not in lists that are one value, such as a route. Other lists are
 *   compared whole.
 * - An empty value and an absent one are the same: the server drops many of them.
 * - Quantities are compared by amount where Kubernetes has quantities: the server rewrites `1000m` as `1`.
 */
export function drift(intent: unknown, live: unknown): readonly string[] {
  return driftAt({ intent, live, key: '', parent: '' })
}

/** Two values at the same place; `key` and `parent` are the last two names on the way to it. */
interface Pair {
  readonly intent: unknown
  readonly live: unknown
  readonly key: string
  readonly parent: string
}

type Json = Readonly<Record<string, unknown>>

/** Paths are put together on the way back, and only where there is something to tell: most objects have not drifted. */
const NONE: readonly string[] = []

function driftAt(pair: Pair): readonly string[] {
  const { intent, live } = pair
  if (intent === live) return NONE
  if (Array.isArray(intent) && Array.isArray(live)) return driftOfList(pair, intent, live)
  if (isRecord(intent) && isRecord(live)) return driftOfRecord(intent, live, pair.key)
  if ((isEmpty(intent) && isEmpty(live)) || isSameQuantity(pair)) return NONE
  return [`=${live === undefined ? 'absent' : JSON.stringify(live)}`]
}

function driftOfRecord(intent: Json, live: Json, parent: string): readonly string[] {
  let found = NONE
  for (const key of Object.keys(intent)) {
    const below = driftAt({ intent: intent[key], live: live[key], key, parent })
    if (below.length > 0) found = [...found, ...below.map((rest) => joined(key, rest))]
  }
  return found
}

/** Of Istio and the Gateway API, as their definitions have it: an item more changes what the others mean. */
const WHOLE_LISTS: ReadonlySet<string> = new Set(['http', 'route', 'subsets', 'rules', 'backendRefs', 'parentRefs'])

function driftOfList({ key }: Pair, intent: readonly unknown[], live: readonly unknown[]): readonly string[] {
  if (WHOLE_LISTS.has(key) && live.length > intent.length) return [`=${JSON.stringify(live)}`]
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

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}
