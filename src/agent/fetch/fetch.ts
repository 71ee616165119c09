/**
 * Fetches a model from a source into a directory.
 *
 * Guarantees
 * - A complete model is not fetched again: its files are recorded with the identity of their content at the source.
 * - An interrupted fetch resumes, also after a kill or the loss of the machine.
 * - A file gets its name only after its size, and its checksum if known, were verified. A directory is complete only after
 *   all of its files are.
 * - Nothing is written outside of the directory. Only files of an earlier fetch are removed from it.
 * - Memory use does not depend on the size of the model.
 */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { Checksum } from '../transfer/checksum.ts'
import { type Download, download } from './download.ts'
import { ChangedError, TransferError, TransientError } from '../transfer/error.ts'
import { checksumOfModel } from './model-checksum.ts'
import { type LayoutName, type Placed, placed } from './layout.ts'
import { withLock } from './lock.ts'
import { Part, RANGE_BYTES } from './part.ts'
import { Progress } from './progress.ts'
import { freeBytes } from '../transfer/free-space.ts'
import { type Kept, Record } from './record.ts'
import { STATE_DIRECTORY } from '../transfer/relative-path.ts'
import { defaultRetryPolicy, type RetryPolicy, retrying } from '../transfer/retry.ts'
import { durationText, sizeText } from '../transfer/size.ts'
import { forEach, Slots } from '../transfer/slots.ts'
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
  readonly retryPolicy?: RetryPolicy
  /** Free bytes of the volume of a directory. */
  readonly freeBytes?: (directory: string) => Promise<number>
}

/** The number of attempts if the source changes during the fetch. */
const MAX_ATTEMPTS = 3

type Fetch = FetchRequest &
  Required<FetchOptions> & { readonly state: string; readonly record: Record; readonly began: number }

export async function fetchModel(request: FetchRequest, options: FetchOptions): Promise<void> {
  const { directory, layout, modelName = '' } = request
  // Servers treat every directory of a repository as a model, but within a model they look only for version numbers.
  const state = join(directory, layout === 'repository' ? modelName : '', STATE_DIRECTORY)
  await mkdir(state, { recursive: true })
  const record = new Record(state, directory)
  const began = performance.now()
  const fetch: Fetch = { retryPolicy: defaultRetryPolicy, freeBytes, ...request, ...options, state, record, began }
  if (await hasExpected(fetch)) return
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchOnce(fetch)
    } catch (error) {
      if (!(error instanceof ChangedError) || attempt === MAX_ATTEMPTS) throw error
      fetch.log(`${error.message}: starting again with the new content`)
    }
  }
}

async function fetchOnce(fetch: Fetch): Promise<void> {
  const wanted = await listFiles(fetch)
  if (wanted === undefined || (await isComplete(fetch, wanted))) return
  await withLock(fetch.state, fetch, async () => {
    if (!(await isComplete(fetch, wanted))) await fetchMissing(fetch, wanted)
  })
}

/** The model with the expected checksum is already here: the source is not needed. */
async function hasExpected({ record, checksum, source, log }: Fetch): Promise<boolean> {
  if (checksum === undefined) return false
  const { completion } = await record.read()
  const isPresent = completion?.uri === source.shown && completion.checksum === checksum.value
  if (isPresent) log(`${source.shown} is already here, with the expected checksum`)
  return isPresent
}

/** Lists the files of the model. Undefined if the source is unreachable but a complete copy is here. */
async function listFiles(fetch: Fetch): Promise<readonly Placed[] | undefined> {
  const { source, record, checksum, retryPolicy, signal, log } = fetch
  try {
    const files = await retrying(retryPolicy, signal, () => source.list(signal))
    return placed(files, fetch.layout, fetch.modelName)
  } catch (error) {
    if (!(error instanceof TransientError)) throw error
    const { completion } = await record.read()
    if (completion?.uri !== source.shown || checksum !== undefined) throw unreachableError(source, error)
    log(`${source.shown} is unreachable (${error.message}); using the complete copy of ${completion.at}`)
    return undefined
  }
}

function unreachableError({ shown }: Source, error: Error): TransferError {
  const what = error.message.includes(shown) ? error.message : `${shown}: ${error.message}`
  return new TransferError(
    'Unreachable',
    `${what}, after several attempts: check the address, and whether pods can reach it (network policies, proxy)`,
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

async function fetchMissing(fetch: Fetch, wanted: readonly Placed[]): Promise<void> {
  const { record, source, log, began } = fetch
  const before = (await record.read()).files
  const kept = new Set(wanted.filter((one) => isSame(before.get(one.path), one)))
  const missing = wanted.filter((one) => !kept.has(one))
  await record.begin([...kept].flatMap(({ path }) => before.get(path) ?? []))
  const progress = await prepare(fetch, wanted, missing)
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

/** Logs what will be fetched. Fails if the volume is too small. */
async function prepare(fetch: Fetch, wanted: readonly Placed[], missing: readonly Placed[]): Promise<Progress> {
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
    throw new TransferError(
      'NoSpace',
      `${source.shown} needs ${sizeText(needed)} more, but the volume of ${directory} has ${sizeText(free)} free: enlarge the volume of the model`,
    )
  }
  return Number.isNaN(total) ? new Progress(undefined, 0, log) : new Progress(total, here, log)
}

async function downloadAll(
  fetch: Fetch,
  missing: readonly Placed[],
  options: Pick<Download, 'progress' | 'expected'>,
): Promise<void> {
  const { connections, source, record } = fetch
  const job = { ...fetch, slots: new Slots(connections), ...options }
  try {
    await forEach(missing, { count: connections, signal: fetch.signal }, async (one, signal) => {
      const size = await download(one, job, signal)
      const { identity } = one.file
      await record.add({ path: one.path, size, ...(identity !== undefined && { identity }) })
    })
  } catch (error) {
    throw error instanceof TransientError ? unreachableError(source, error) : error
  }
}

/** Verifies files that are in place. A single file is verified before it is moved there. */
async function assertChecksum(
  { directory, checksum, source, signal }: Fetch,
  wanted: readonly Placed[],
): Promise<void> {
  if (checksum === undefined) return
  const found = await checksumOfModel(directory, wanted, signal)
  if (found === checksum.value) return
  throw new TransferError(
    'ChecksumMismatch',
    `${source.shown} has sha256 ${found}, but ${checksum.value} was expected: correct the checksum, or publish the model again`,
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
