/** The marker of a complete checkpoint: `.complete`, as docs/python-helper.md describes it. */
import { createHash } from 'node:crypto'

import { isJsonObject, type JsonObject, own } from '../../api/json.ts'
import { isRelativePath } from '../transfer/relative-path.ts'

export const MARKER = '.complete'

export const MAX_MARKER_BYTES = 8 * 1_024 * 1_024
export const MAX_FILES = 50_000
/** The limits of object keys and of file names. */
const MAX_PATH_BYTES = 800
const MAX_NAME_BYTES = 255

export interface Marker {
  /** As stored. Copies have the same bytes. */
  readonly text: string
  /** Identifies one save: a checkpoint that is saved again has another time. */
  readonly digest: string
  readonly step: number
  /** RFC 3339 in UTC. */
  readonly time: string
  /** Sizes by path. */
  readonly files: ReadonlyMap<string, number>
}

/** Undefined if the text is not a valid marker. */
export function parseMarker(text: string): Marker | undefined {
  const json = text.length > MAX_MARKER_BYTES ? undefined : parseObject(text)
  if (json === undefined) return undefined
  const [step, time, files] = [own(json, 'step'), timeIn(json), filesIn(json)]
  if (!isSize(step) || time === undefined || files === undefined) return undefined
  return { text, digest: createHash('sha256').update(text).digest('hex'), step, time, files }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

function timeIn(json: JsonObject): string | undefined {
  const time = own(json, 'time')
  const milliseconds = typeof time === 'string' && time.length <= 64 ? Date.parse(time) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds).toISOString()
}

function filesIn(json: JsonObject): ReadonlyMap<string, number> | undefined {
  const given = own(json, 'files')
  if (!isJsonObject(given)) return undefined
  const files = new Map<string, number>()
  for (const [path, size] of Object.entries(given)) {
    if (!isPath(path) || !isSize(size)) return undefined
    files.set(path, size)
  }
  if (files.size > MAX_FILES) return undefined
  return [...files.keys()].some((path) => isBelowFile(path, files)) ? undefined : files
}

function isPath(path: string): boolean {
  const parts = path.split('/')
  const isMarker = parts.length === 1 && (path === MARKER || path.startsWith(`${MARKER}-`))
  if (isMarker || !isRelativePath(path) || Buffer.byteLength(path) > MAX_PATH_BYTES) return false
  return path.isWellFormed() && parts.every((part) => Buffer.byteLength(part) <= MAX_NAME_BYTES)
}

/** A path cannot be both a file and a directory, although an object store would allow it. */
function isBelowFile(path: string, files: ReadonlyMap<string, number>): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (files.has(path.slice(0, slash))) return true
  }
  return false
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
