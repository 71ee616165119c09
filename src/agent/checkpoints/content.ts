/** The content of a complete checkpoint, read with retries. */
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import { ChangedError, TransientError } from '../transfer/error.ts'
import { Attempts, type RetryPolicy, retrying } from '../transfer/retry.ts'
import { unlessStalled } from '../transfer/stall.ts'
import { inspect } from './inspection.ts'
import type { CheckpointStore, Content, StoredFile } from './store.ts'

/** Undefined if the folder is not a complete checkpoint. */
export async function contentOf(
  store: CheckpointStore,
  folder: string,
  { retryPolicy, signal }: { readonly retryPolicy: RetryPolicy; readonly signal: AbortSignal },
): Promise<Content | undefined> {
  const found = await retrying(retryPolicy, signal, () => inspect(store, folder, signal))
  if (found.state !== 'complete') return undefined
  const { marker, files } = found
  return {
    marker,
    read: (path, range, either) => {
      const file = files.get(path)
      if (file === undefined) throw new ChangedError(`${store.shown}/${folder} has no file ${path}`)
      return steadily(file, range, { store, folder, retryPolicy, signal: either })
    },
    verify: async (either) => {
      const now = await retrying(retryPolicy, either, () => inspect(store, folder, either))
      if (now.state === 'complete' && now.marker.digest === marker.digest) return
      throw new ChangedError(`${store.shown}/${folder} has changed while it was copied`)
    },
  }
}

interface Reading {
  readonly store: CheckpointStore
  readonly folder: string
  readonly retryPolicy: RetryPolicy
  readonly signal: AbortSignal
}

/** Continues after a broken connection where it broke. */
async function* steadily(file: StoredFile, range: ByteRange, reading: Reading): Bytes {
  const attempts = new Attempts(reading.retryPolicy, reading.signal)
  const piece = { at: range.start, end: Math.min(range.end ?? file.size, file.size) }
  while (piece.at < piece.end) {
    const before = piece.at
    try {
      yield* receive(file, piece, reading)
    } catch (error) {
      if (piece.at > before) attempts.succeeded()
      await attempts.failed(error)
    }
  }
}

/** The bytes of one connection. */
async function* receive(file: StoredFile, piece: { at: number; readonly end: number }, reading: Reading): Bytes {
  const { store, folder, retryPolicy, signal } = reading
  const what = `${store.shown}/${folder}: ${file.path}`
  const rest = { start: piece.at, end: piece.end }
  const all = unlessStalled((either) => store.read(folder, file, rest, either), retryPolicy.stallMs, signal)
  for await (const bytes of all) {
    if (piece.at + bytes.length > piece.end) throw new ChangedError(`${what} is longer than listed`)
    piece.at += bytes.length
    yield bytes
  }
  if (piece.at < piece.end) throw new TransientError(`${what} was cut off after ${piece.at} bytes`)
}
