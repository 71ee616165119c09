/** Pure functions on JSON values. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns an own property of the object, not an inherited one such as `constructor` or `__proto__`. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Whether two values are equal as JSON: the order of keys does not matter, and undefined keys are ignored. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => sameJson(own(a, key), own(b, key)))
}

/** The same text for values that are equal as JSON. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_key, part: Json) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

/** Returns the object without its undefined keys. */
export function compact<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const present = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> } // eslint-disable-line typescript/no-unsafe-type-assertion -- only undefined values were removed
}
