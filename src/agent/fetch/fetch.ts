/**
 * A model from a source into a directory.
 *
 * Guarantees
 * - What is complete is not fetched again: its files are remembered with what the source said of their content.
 * - What is interrupted, by a kill or the loss of the machine, goes on where it stopped.
 * - A file has its name only once its size, and its checksum where one is known, are right; a directory is complete only
 *   once all of its files are.
 * - Nothing is written outside of the directory. Of what is in it, only files that an earlier fetch put there are removed.
 * - Memory does not grow with the model.
 */
import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'

import type { Checksum } from './checksum.ts'
import { type Download, download } from './download.ts'
import { ChangedError, codeOf, FetchError, TransientError } from './error.ts'
import { modelChecksum } from './model-checksum.ts'
import { type LayoutName, type Placed, placed } from './layout.ts'
import { withLock } from './lock.ts'
import { Part, RANGE_BYTES } from './part.ts'
import { Progress } from './progress.ts'
import { type Kept, Record } from './record.ts'
import { STATE_DIRECTORY } from './relative-path.ts'
import { defaultPatience, type Patience, retrying } from './retry.ts'
import { durationText, sizeText } from './size.ts'
import { forEach, Slots } from './slots.ts'
import type { Source } from './source.ts'

export interface FetchRequest {
  readonly uri: string
  readonly directory: string
  readonly layout: LayoutName
  readonly connections: number
  readonly modelName?: string
  readonly checksum?: Checksum
}

export interface FetchOptions {
  readonly source: Source
  readonly log: (line: string) => void
  readonly signal: AbortSignal
  readonly patience?: Patience
  /** Bytes that may still be written below a directory. */
  readonly freeBytes?: (directory: string) => Promise<number>
}

/** How often a source may change under our hands before we give up. */
const ROUNDS = 3

type Fetch = FetchRequest &
  Required<FetchOptions> & { readonly state: string; readonly record: Record; readonly began: number }

export async function fetchModel(request: FetchRequest, options: FetchOptions): Promise<void> {
  const { directory, layout, modelName = '' } = request
  // Servers take every directory of a repository for a model, but inside of a model look for numbers only.
  const state = join(directory, layout === 'repository' ? modelName : '', STATE_DIRECTORY)
  await mkdir(state, { recursive: true })
  const record = new Record(state, directory)
  const began = performance.now()
  const fetch: Fetch = { patience: defaultPatience, freeBytes, ...request, ...options, state, record, began }
  if (await isPinned(fetch)) return
  for (let round = 1; ; round++) {
    try {
      return await fetchOnce(fetch)
    } catch (error) {
      if (!(error instanceof ChangedError) || round === ROUNDS) throw error
      fetch.log(`${error.message}: starting over with what is new`)
    }
  }
}

async function fetchOnce(fetch: Fetch): Promise<void> {
  const wanted = await listed(fetch)
  if (wanted === undefined || (await isComplete(fetch, wanted))) return
  await withLock(fetch.state, fetch, async () => {
    if (!(await isComplete(fetch, wanted))) await bring(fetch, wanted)
  })
}

/** Content that was asked for by its checksum, and is there, needs no source. */
async function isPinned({ record, checksum, source, log }: Fetch): Promise<boolean> {
  if (checksum === undefined) return false
  const { completion } = await record.read()
  const isIt = completion?.uri === source.shown && completion.checksum === checksum.value
  if (isIt) log(`${source.shown} is already here, with the checksum that was asked for`)
  return isIt
}

/** What is to be there, or undefined if the source cannot be asked but a complete copy of it is here. */
async function listed(fetch: Fetch): Promise<readonly Placed[] | undefined> {
  const { source, record, checksum, patience, signal, log } = fetch
  try {
    const files = await retrying(patience, signal, () => source.list(signal))
    return placed(files, fetch.layout, fetch.modelName)
  } catch (error) {
    if (!(error instanceof TransientError)) throw error
    const { completion } = await record.read()
    if (completion?.uri !== source.shown || checksum !== undefined) throw unreachable(source, error)
    log(`${source.shown} cannot be reached (${error.message}); the complete copy of ${completion.at} is used`)
    return undefined
  }
}

function unreachable({ shown }: Source, error: Error): FetchError {
  const what = error.message.includes(shown) ? error.message : `${shown}: ${error.message}`
  return new FetchError(
    'Unreachable',
    `${what}, after several tries: is the address right, and may pods reach it (network policies, proxy)?`,
    { cause: error },
  )
}

async function isComplete({ record, source, checksum, log }: Fetch, wanted: readonly Placed[]): Promise<boolean> {
  const { files, completion } = await record.read()
  if (completion?.uri !== source.shown || (checksum !== undefined && completion.checksum !== checksum.value))
    return false
  if (files.size !== wanted.length || !wanted.every((one) => isSame(files.get(one.path), one))) return false
  log(`${source.shown} is already here and has not changed`)
  return true
}

function isSame(kept: Kept | undefined, { file }: Placed): boolean {
  return file.identity !== undefined && kept?.identity === file.identity && kept.size === (file.size ?? kept.size)
}

async function bring(fetch: Fetch, wanted: readonly Placed[]): Promise<void> {
  const { record, source, log, began } = fetch
  const before = (await record.read()).files
  const kept = new Set(wanted.filter((one) => isSame(before.get(one.path), one)))
  const missing = wanted.filter((one) => !kept.has(one))
  await record.begin([...kept].flatMap(({ path }) => before.get(path) ?? []))
  const progress = await prepared(fetch, wanted, missing)
  progress.start()
  try {
    const expected = wanted.length === 1 ? fetch.checksum : undefined
    await downloadAll(fetch, missing, { progress, ...(expected !== undefined && { expected }) })
  } finally {
    progress.stop()
  }
  if (wanted.length > 1 || kept.size > 0) await assertChecksum(fetch, wanted)
  await removeStale(fetch, before, wanted)
  const checksum = fetch.checksum === undefined ? {} : { checksum: fetch.checksum.value }
  await record.complete({ uri: source.shown, at: new Date().toISOString(), ...checksum })
  log(`${source.shown} is complete after ${durationText((performance.now() - began) / 1_000)}`)
}

/** Says what comes, and refuses what would not fit. */
async function prepared(fetch: Fetch, wanted: readonly Placed[], missing: readonly Placed[]): Promise<Progress> {
  const { source, directory, log } = fetch
  let total = 0
  for (const { file } of wanted) total += file.size ?? Number.NaN
  let needed = 0
  for (const { file } of missing) {
    for (const { start, end = file.size ?? 0 } of await new Part(fetch.state, file).missing(RANGE_BYTES)) {
      needed += end - start
    }
  }
  const known = Number.isNaN(total) ? 'of unknown size' : sizeText(total)
  const here = total - needed
  const resumed = here > 0 ? `, ${sizeText(here)} of it already here` : ''
  log(
    `fetching ${source.shown} into ${directory}: ${wanted.length} file${wanted.length === 1 ? '' : 's'}, ${known}${resumed}`,
  )
  const free = await fetch.freeBytes(directory)
  if (needed > free) {
    throw new FetchError(
      'NoSpace',
      `${source.shown} needs ${sizeText(needed)} more, but the volume of ${directory} has ${sizeText(free)} free: give the model's volume more room`,
    )
  }
  return Number.isNaN(total) ? new Progress(undefined, 0, log) : new Progress(total, here, log)
}

async function downloadAll(
  fetch: Fetch,
  missing: readonly Placed[],
  particulars: Pick<Download, 'progress' | 'expected'>,
): Promise<void> {
  const { connections, source, record } = fetch
  const job = { ...fetch, slots: new Slots(connections), ...particulars }
  try {
    await forEach(missing, { count: connections, signal: fetch.signal }, async (one, signal) => {
      const size = await download(one, job, signal)
      const { identity } = one.file
      await record.add({ path: one.path, size, ...(identity !== undefined && { identity }) })
    })
  } catch (error) {
    throw error instanceof TransientError ? unreachable(source, error) : error
  }
}

/** Of what is in its place already; that of a single file was checked before it got there. */
async function assertChecksum(
  { directory, checksum, source, signal }: Fetch,
  wanted: readonly Placed[],
): Promise<void> {
  if (checksum === undefined) return
  const found = await modelChecksum(directory, wanted, signal)
  if (found === checksum.value) return
  throw new FetchError(
    'ChecksumMismatch',
    `${source.shown} has sha256 ${found}, but ${checksum.value} was asked for: correct the checksum, or publish the model again`,
  )
}

async function removeStale(
  { directory, state }: Fetch,
  before: ReadonlyMap<string, Kept>,
  wanted: readonly Placed[],
): Promise<void> {
  const current = new Set(wanted.map(({ path }) => path))
  for (const path of before.keys()) if (!current.has(path)) await rm(join(directory, path), { force: true })
  const leftovers = (await readdir(state)).filter((name) => /\.(part|ranges)$/.test(name))
  for (const name of leftovers) await rm(join(state, name), { force: true })
}

async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  } catch (error) {
    if (codeOf(error) === 'ENOSYS') return Infinity
    throw error
  }
}
