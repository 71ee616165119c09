/** One file from a source to its place: read in ranges, some at once, each tried again; checked; then put in place. */
import { mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'

import { type Checksum, checksumOfFile } from './checksum.ts'
import { ChangedError, codeOf, FetchError, TransientError } from './error.ts'
import type { Placed } from './layout.ts'
import { Part, RANGE_BYTES } from './part.ts'
import type { Progress } from './progress.ts'
import { Attempts, type Patience, retrying } from './retry.ts'
import type { Slots } from './slots.ts'
import { forEach } from './slots.ts'
import type { ByteRange, RemoteFile, Source } from './source.ts'
import { unlessStalled } from './stall.ts'

export interface Download {
  readonly source: Source
  readonly directory: string
  readonly state: string
  readonly slots: Slots
  readonly connections: number
  readonly patience: Patience
  readonly progress: Progress
  /** What the whole model has to hash to, when it is one file. */
  readonly expected?: Checksum
}

/** Resolves to the size of the file, which is in its place then. */
export async function download({ file, path }: Placed, job: Download, signal: AbortSignal): Promise<number> {
  const part = new Part(job.state, file)
  const ranges = await part.missing(RANGE_BYTES)
  await part.open()
  try {
    await forEach(ranges, { count: job.connections, signal }, (range, either) =>
      job.slots.run(() => fill(part, { file, range }, job, either)),
    )
  } finally {
    await part.close()
  }
  return job.slots.run(async () => {
    const size = await checked(part, file, job, signal)
    await publish(part, { path, size }, job.directory)
    return size
  })
}

/** A range of a file on its way, and how far it is. */
interface Piece {
  readonly file: RemoteFile
  readonly range: ByteRange
  at: number
}

async function fill(part: Part, { file, range }: Omit<Piece, 'at'>, job: Download, signal: AbortSignal): Promise<void> {
  const attempts = new Attempts(job.patience, signal)
  const piece = { file, range, at: range.start }
  for (;;) {
    const before = piece.at
    try {
      await receive(part, piece, job, signal)
      return await (range.end === undefined ? part.end(piece.at) : part.finish(range))
    } catch (error) {
      if (file.hasRanges && piece.at > before) attempts.succeeded()
      await attempts.failed(named(error, job.source))
      if (file.hasRanges) continue
      job.progress.add(range.start - piece.at)
      piece.at = range.start
    }
  }
}

/** What one connection gives, to disk as it comes. */
async function receive(part: Part, piece: Piece, job: Download, signal: AbortSignal): Promise<void> {
  const { file, range } = piece
  const end = range.end ?? file.size
  const rest = { ...range, start: piece.at }
  const all = unlessStalled((either) => job.source.read(file, rest, either), job.patience.stallMs, signal)
  for await (const bytes of all) {
    if (end !== undefined && piece.at + bytes.length > end) {
      throw new ChangedError(`${job.source.shown}: ${file.path} is longer than it was said to be`)
    }
    await part.write(bytes, piece.at)
    piece.at += bytes.length
    job.progress.add(bytes.length)
  }
  if (end !== undefined && piece.at < end) throw new TransientError(`${file.path} was cut off after ${piece.at} bytes`)
}

function named(error: unknown, { shown }: Source): unknown {
  if (!(error instanceof TransientError) || error.message.includes(shown)) return error
  return new TransientError(`${shown}: ${error.message}`, { cause: error })
}

/** A file that hashes to something else is thrown away: resuming it could not make it right. */
async function checked(part: Part, file: RemoteFile, job: Download, signal: AbortSignal): Promise<number> {
  const { size } = await stat(part.path)
  const told = await retrying(job.patience, signal, () => job.source.checksum(file, signal))
  for (const { algorithm, value } of [job.expected, told].filter((one) => one !== undefined)) {
    const found = await checksumOfFile(part.path, { algorithm, size }, signal)
    if (found === value) continue
    await part.discard()
    const whose = value === job.expected?.value ? 'was asked for: correct the checksum, or' : 'the server says:'
    throw new FetchError(
      'ChecksumMismatch',
      `${job.source.shown}: ${file.path} has ${algorithm} ${found}, but ${value} ${whose} publish the model again`,
    )
  }
  return size
}

/** Never outside of the directory, whatever links somebody has put into it. */
async function publish(
  part: Part,
  { path, size }: { readonly path: string; readonly size: number },
  directory: string,
): Promise<void> {
  const target = join(directory, path)
  await mkdir(dirname(target), { recursive: true })
  const root = await realpath(directory)
  const parent = await realpath(dirname(target))
  if (parent !== root && !parent.startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw new FetchError('Invalid', `${path} would be written to ${parent}, outside of ${directory}: remove that link`)
  }
  try {
    await part.publish(target)
  } catch (error) {
    if (codeOf(error) === 'EISDIR' || codeOf(error) === 'ENOTEMPTY') {
      throw new FetchError('Invalid', `${target} is a directory, where the model has a file: empty the volume`)
    }
    // Another pod has put the same content there in the meantime.
    const there = await stat(target).catch(() => undefined)
    if (codeOf(error) !== 'ENOENT' || there?.size !== size) throw error
  }
}
