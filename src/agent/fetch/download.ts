/** Downloads one file: reads ranges in parallel with retries, verifies the checksum, then moves the file into place. */
import { mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'

import { type Checksum, checksumOfFile } from '../transfer/checksum.ts'
import { ChangedError, codeOf, TransferError, TransientError } from '../transfer/error.ts'
import type { Placed } from './layout.ts'
import { Part, RANGE_BYTES } from './part.ts'
import type { Progress } from './progress.ts'
import { Attempts, type RetryPolicy, retrying } from '../transfer/retry.ts'
import type { Slots } from '../transfer/slots.ts'
import { forEach } from '../transfer/slots.ts'
import type { ByteRange } from '../transfer/bytes.ts'
import type { RemoteFile, Source } from './source.ts'
import { unlessStalled } from '../transfer/stall.ts'

export interface Download {
  readonly source: Source
  readonly directory: string
  readonly state: string
  readonly slots: Slots
  readonly connections: number
  readonly retryPolicy: RetryPolicy
  readonly progress: Progress
  /** Expected checksum of the model, if it is one file. */
  readonly expected?: Checksum
}

/** Resolves to the size of the file when it is in place. */
export async function download({ file, path }: Placed, job: Download, signal: AbortSignal): Promise<number> {
  const part = new Part(job.state, file)
  const ranges = await part.missing(RANGE_BYTES)
  await part.open()
  try {
    await forEach(ranges, { count: job.connections, signal }, (range, either) =>
      job.slots.run(() => downloadRange(part, { file, range }, job, either)),
    )
  } finally {
    await part.close()
  }
  return job.slots.run(async () => {
    const size = await verify(part, file, job, signal)
    await publish(part, { path, size }, job.directory)
    return size
  })
}

/** A range of a file, and the position reached in it. */
interface Piece {
  readonly file: RemoteFile
  readonly range: ByteRange
  at: number
}

async function downloadRange(
  part: Part,
  { file, range }: Omit<Piece, 'at'>,
  job: Download,
  signal: AbortSignal,
): Promise<void> {
  const attempts = new Attempts(job.retryPolicy, signal)
  const piece = { file, range, at: range.start }
  for (;;) {
    const before = piece.at
    try {
      await receive(part, piece, job, signal)
      return await (range.end === undefined ? part.end(piece.at) : part.finish(range))
    } catch (error) {
      if (file.hasRanges && piece.at > before) attempts.succeeded()
      await attempts.failed(withSource(error, job.source))
      if (file.hasRanges) continue
      job.progress.add(range.start - piece.at)
      piece.at = range.start
    }
  }
}

/** Writes the bytes of one connection to disk as they arrive. */
async function receive(part: Part, piece: Piece, job: Download, signal: AbortSignal): Promise<void> {
  const { file, range } = piece
  const end = range.end ?? file.size
  const rest = { ...range, start: piece.at }
  const all = unlessStalled((either) => job.source.read(file, rest, either), job.retryPolicy.stallMs, signal)
  for await (const bytes of all) {
    if (end !== undefined && piece.at + bytes.length > end) {
      throw new ChangedError(`${job.source.shown}: ${file.path} is longer than listed`)
    }
    await part.write(bytes, piece.at)
    piece.at += bytes.length
    job.progress.add(bytes.length)
  }
  if (end !== undefined && piece.at < end) throw new TransientError(`${file.path} was cut off after ${piece.at} bytes`)
}

function withSource(error: unknown, { shown }: Source): unknown {
  if (!(error instanceof TransientError) || error.message.includes(shown)) return error
  return new TransientError(`${shown}: ${error.message}`, { cause: error })
}

/** Discards a file with another checksum: resuming cannot repair it. */
async function verify(part: Part, file: RemoteFile, job: Download, signal: AbortSignal): Promise<number> {
  const { size } = await stat(part.path)
  const reported = await retrying(job.retryPolicy, signal, () => job.source.checksum(file, signal))
  for (const { algorithm, value } of [job.expected, reported].filter((one) => one !== undefined)) {
    const found = await checksumOfFile(part.path, { algorithm, size }, signal)
    if (found === value) continue
    await part.discard()
    const whose =
      value === job.expected?.value ? 'was expected: correct the checksum, or' : 'is what the server reports:'
    throw new TransferError(
      'ChecksumMismatch',
      `${job.source.shown}: ${file.path} has ${algorithm} ${found}, but ${value} ${whose} publish the model again`,
    )
  }
  return size
}

/** Never writes outside of the directory, whatever links it contains. */
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
    throw new TransferError(
      'Invalid',
      `${path} would be written to ${parent}, outside of ${directory}: remove that link`,
    )
  }
  try {
    await part.publish(target)
  } catch (error) {
    if (codeOf(error) === 'EISDIR' || codeOf(error) === 'ENOTEMPTY') {
      throw new TransferError('Invalid', `${target} is a directory, but a file in the model: empty the volume`)
    }
    // Another pod has moved the same content there meanwhile.
    const there = await stat(target).catch(() => undefined)
    if (codeOf(error) !== 'ENOENT' || there?.size !== size) throw error
  }
}
