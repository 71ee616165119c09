/**
 * The difference between two JSON objects as a flat list of edits, each a JSON pointer and the value that belongs
 * there (`null`: nothing does). Lists count as values: they are replaced as a whole.
 */

import { isJsonObject, type Json, type JsonObject, sameJson } from './json.ts'

export type Edits = Readonly<Record<string, Json>>

/** The edits that turn `from` into `to`. */
export function diff(from: JsonObject, to: JsonObject): Edits {
  return Object.fromEntries(differences('', from, to))
}

function differences(at: string, from: Json | undefined, to: Json | undefined): [string, Json][] {
  if (sameJson(from, to)) return []
  if (to === undefined) return [[at, null]]
  if (!isJsonObject(to) || (isEmpty(to) && !isJsonObject(from))) return [[at, to]]
  const before = isJsonObject(from) ? from : {}
  const keys = [...new Set([...Object.keys(before), ...Object.keys(to)])]
  return keys.flatMap((key) => differences(`${at}/${escape(key)}`, before[key], to[key]))
}

/** `object` after the edits. */
export function edited(object: JsonObject, edits: Edits): JsonObject {
  return Object.entries(edits).reduce((result, [at, value]) => put(result, segments(at), value), object)
}

function put(object: JsonObject, [key, ...rest]: readonly string[], value: Json): JsonObject {
  if (key === undefined) return object
  if (rest.length > 0) {
    const child = object[key]
    return { ...object, [key]: put(isJsonObject(child) ? child : {}, rest, value) }
  }
  if (value !== null) return { ...object, [key]: value }
  const { [key]: removed, ...others } = object
  return removed === undefined ? object : others
}

const isEmpty = (object: JsonObject): boolean => Object.keys(object).length === 0
const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
const unescape = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~')
const segments = (at: string): string[] => at.split('/').slice(1).map(unescape)
