/** Which folders of a store are complete checkpoints, and what the others are. */
import { type FoundCheckpoint, isCheckpointName } from '../../api/checkpoint-result.ts'
import { ChangedError, codeOf, TransferError } from '../transfer/error.ts'
import { forEach } from '../transfer/slots.ts'
import { MARKER, type Marker, MAX_FILES, MAX_MARKER_BYTES, parseMarker } from './marker.ts'
import { type CheckpointStore, type StoredFile, UNFINISHED } from './store.ts'

export interface Checkpoint extends FoundCheckpoint {
  /** Of its marker: copies have the same. */
  readonly digest: string
}

export type Inspection =
  | { readonly state: 'complete'; readonly marker: Marker; readonly files: ReadonlyMap<string, StoredFile> }
  /** Files of the marker are missing or have other sizes. Without `marker`: it is not valid. */
  | { readonly state: 'damaged'; readonly marker?: Marker }
  /** The agent has begun to write or to delete it. */
  | { readonly state: 'unfinished'; readonly changedAt: number }
  | { readonly state: 'foreign' }

export interface Listing {
  /** The newest first. */
  readonly complete: readonly Checkpoint[]
  readonly damaged: readonly string[]
  readonly unfinished: readonly { readonly name: string; readonly changedAt: number }[]
  /** Whether there is anything else, such as checkpoints in another layout. */
  readonly hasOther: boolean
}

const MAX_FOLDERS = 10_000
const PARALLEL = 8
/** Every volume with ext4 has it. */
const LOST_AND_FOUND = 'lost+found'

export async function listCheckpoints(store: CheckpointStore, signal: AbortSignal): Promise<Listing> {
  const candidates: string[] = []
  let hasOther = false
  for await (const { name, isFolder } of store.list(signal)) {
    if (isFolder && (isCheckpointName(name) || name.startsWith(UNFINISHED))) candidates.push(name)
    else hasOther ||= !isIgnored(name)
    if (candidates.length > MAX_FOLDERS) throw tooMany(store)
  }
  const found = new Map<string, Inspection | Checkpoint>()
  await forEach(candidates, { count: PARALLEL, signal }, async (name, either) => {
    const inspection = await inspect(store, name, either)
    // The files of many checkpoints would not fit into memory.
    found.set(name, inspection.state === 'complete' ? checkpointOf(name, inspection.marker) : inspection)
  })
  return sorted(found, hasOther)
}

function tooMany({ shown }: CheckpointStore): TransferError {
  return new TransferError('Invalid', `${shown} has more than ${MAX_FOLDERS} folders: use another path for checkpoints`)
}

/** A dot hides a name, and checkpoints that were moved away belong to the layout. */
function isIgnored(name: string): boolean {
  return name.startsWith('.') || name === LOST_AND_FOUND || isReplaced(name)
}

function isReplaced(name: string): boolean {
  const [original = '', ...rest] = name.split('.replaced-')
  return rest.length > 0 && isCheckpointName(original)
}

function sorted(found: ReadonlyMap<string, Inspection | Checkpoint>, hasOther: boolean): Listing {
  const complete: Checkpoint[] = []
  const damaged: string[] = []
  const unfinished: { name: string; changedAt: number }[] = []
  let hasForeign = false
  for (const [name, one] of found) {
    if (!('state' in one)) complete.push(one)
    else if (one.state === 'damaged') damaged.push(name)
    else if (one.state === 'unfinished') unfinished.push({ name, changedAt: one.changedAt })
    else hasForeign = true
  }
  return { complete: complete.toSorted(newestFirst), damaged, unfinished, hasOther: hasOther || hasForeign }
}

/** By step. Of the same step, as the helper for Python chooses: by name. */
export function newestFirst(a: Checkpoint, b: Checkpoint): number {
  if (a.step !== b.step) return b.step - a.step
  return a.name < b.name ? 1 : -1
}

export async function inspect(store: CheckpointStore, name: string, signal: AbortSignal): Promise<Inspection> {
  const files = new Map<string, StoredFile>()
  let changedAt = 0
  for await (const file of store.files(name, signal)) {
    changedAt = Math.max(changedAt, file.changedAt)
    files.set(file.path, file)
    // More than any marker lists, and not more than fits into memory.
    if (files.size > 2 * MAX_FILES) return { state: 'foreign' }
  }
  if (name.startsWith(UNFINISHED)) return { state: 'unfinished', changedAt }
  const file = files.get(MARKER)
  if (file === undefined) {
    const isOurs = [...files.keys()].some((path) => path.startsWith(UNFINISHED))
    return isOurs ? { state: 'unfinished', changedAt } : { state: 'foreign' }
  }
  const marker = await readMarker(store, name, file, signal)
  if (marker === undefined) return { state: 'damaged' }
  const isComplete = [...marker.files].every(([path, size]) => files.get(path)?.size === size)
  return { state: isComplete ? 'complete' : 'damaged', marker, files }
}

async function readMarker(
  store: CheckpointStore,
  name: string,
  file: StoredFile,
  signal: AbortSignal,
): Promise<Marker | undefined> {
  if (file.size === 0 || file.size > MAX_MARKER_BYTES) return undefined
  try {
    const parts: Uint8Array[] = []
    let length = 0
    for await (const part of await store.read(name, file, { start: 0 }, signal)) {
      length += part.length
      if (length > MAX_MARKER_BYTES) return undefined
      parts.push(part)
    }
    return parseMarker(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts)))
  } catch (error) {
    // It is replaced at this moment, or it is not text.
    if (error instanceof ChangedError || codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return undefined
    throw error
  }
}

export function checkpointOf(name: string, { step, time, digest }: Marker): Checkpoint {
  return { name, step, time, digest }
}
