/**
 * The difference between two JSON objects as a flat list of edits. An edit is a JSON pointer and the new value; `null`
 * removes the field. Lists are replaced as a whole. Every function takes time linear in its input.
 */

import { isJsonObject, type Json, type JsonObject, own, sameJson } from './json.ts'

export type Edit = readonly [pointer: string, value: Json]
export type Edits = readonly Edit[]

/** Maximum number of keys in a pointer, more than any of our schemas needs. Deeper values are replaced as a whole. */
const MAX_DEPTH = 12
/** Maximum nesting of a value. */
const MAX_NESTING = 32
/** Maximum length of the text: the size limit of an object in etcd. */
const MAX_LENGTH = 1.5 * 2 ** 20
/** Maximum number of edits: more than the fields of our largest schema, whose maps are bounded. */
const MAX_EDITS = 2_048

/** Returns the edits that turn `from` into `to`. Values at the pointers in `whole` are replaced as a whole, with their nulls. */
export function diff(from: JsonObject, to: JsonObject, whole: ReadonlySet<string> = new Set()): Edits {
  const found: Edit[] = []
  /** Keys from the root to the current value. */
  const path: string[] = []
  const note = (value: Json): void => void found.push([joinPointer(path), value])
  const compare = (before: Json | undefined, after: Json | undefined): void => {
    if (sameJson(before, after)) return
    if (after === undefined) return note(null)
    const isWhole = path.length === MAX_DEPTH || whole.has(joinPointer(path)) || !isJsonObject(after)
    if (isWhole || (isEmpty(after) && !isJsonObject(before))) {
      return note(after)
    }
    const base = isJsonObject(before) ? before : {}
    for (const key of new Set([...Object.keys(base), ...Object.keys(after)])) {
      path.push(key)
      compare(own(base, key), own(after, key))
      path.pop()
    }
  }
  compare(from, to)
  return found
}

/** Returns `object` with the edits applied. Copies each changed object once. */
export function applyEdits(object: JsonObject, edits: Edits): JsonObject {
  const copies = new Set<unknown>()
  const copyOf = (value: Json | undefined): Mutable => {
    if (copies.has(value)) return value as Mutable // eslint-disable-line typescript/no-unsafe-type-assertion -- made below
    const copy = isJsonObject(value) ? { ...value } : {}
    copies.add(copy)
    return copy
  }
  const result = copyOf(object)
  for (const [at, value] of edits) {
    const path = splitPointer(at)
    const last = path.pop() ?? ''
    const parent = path.reduce((node, key) => put(node, key, copyOf(own(node, key))), result)
    if (value === null) delete parent[last]
    else put(parent, last, value)
  }
  return result
}

/** Formats edits as a JSON object from pointer to value. Builds the text directly, because objects with thousands of long keys are slow. */
export function formatEdits(edits: Edits): string {
  return `{${edits.map(([at, value]) => `${JSON.stringify(at)}:${JSON.stringify(value)}`).join(',')}}`
}

/** Parses edits from an untrusted source. Returns none if the text is too large or invalid, and skips malformed edits. */
export function parseEdits(text: unknown): Edits {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return []
  const entries = Object.entries(parseObject(text))
  return entries.length > MAX_EDITS ? [] : entries.filter((entry): entry is [string, Json] => isEdit(entry))
}

function isEdit([at, value]: readonly [string, Json | undefined]): boolean {
  return countKeys(at) <= MAX_DEPTH && isShallow(value, MAX_NESTING)
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

type Mutable = Record<string, Json | undefined>

/** Sets an own property, even if it is named `__proto__`. */
function put<T extends Json>(object: Mutable, key: string, value: T): T {
  if (key === '__proto__') Object.defineProperty(object, key, { value, ...PLAIN })
  else object[key] = value
  return value
}

const PLAIN = { enumerable: true, configurable: true, writable: true }

function isShallow(value: Json | undefined, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((child: Json | undefined) => isShallow(child, depth - 1))
}

function countKeys(at: string): number {
  let depth = 0
  for (let slash = at.indexOf('/'); slash !== -1 && depth <= MAX_DEPTH; slash = at.indexOf('/', slash + 1)) depth += 1
  return depth
}

const isEmpty = (object: JsonObject): boolean => Object.keys(object).length === 0
const joinPointer = (path: readonly string[]): string => path.map((key) => `/${escape(key)}`).join('')
const escape = (key: string): string => (/[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key)
const unescape = (key: string): string => (key.includes('~') ? key.replaceAll('~1', '/').replaceAll('~0', '~') : key)

/** Splits a JSON pointer into its keys. */
export const splitPointer = (at: string): string[] => at.split('/').slice(1).map(unescape)
