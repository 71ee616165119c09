/**
 * Where a model comes from. A source lists files and reads ranges of them; it neither retries nor writes.
 *
 * Guarantees asked of a source
 * - What can be tried again throws TransientError, what cannot FetchError, content that is no longer that of the list
 *   ChangedError.
 * - `path` is relative and safe: see `relativePath`.
 */
import type { Checksum } from './checksum.ts'

export interface RemoteFile {
  /** Where the source finds it. */
  readonly key: string
  /** Where it goes, below the model's directory, divided by slashes. */
  readonly path: string
  /** In bytes; absent when the server does not tell. */
  readonly size?: number
  /** Changes whenever the content does. Absent: nobody can tell, so it is fetched anew every time. */
  readonly identity?: string
  /** Whether ranges can be read, and with them a download resumed. */
  readonly hasRanges: boolean
}

/** From `start` up to, but without, `end`; to the end of the file if there is none. */
export interface ByteRange {
  readonly start: number
  readonly end?: number
}

export type Bytes = AsyncIterable<Uint8Array>

export interface Source {
  /** The URI as it may be shown: without credentials. */
  readonly shown: string
  /** At least one file. */
  list(signal: AbortSignal): Promise<readonly RemoteFile[]>
  read(file: RemoteFile, range: ByteRange, signal: AbortSignal): Promise<Bytes>
  /** What the server says the content hashes to, where it says something that means the content. */
  checksum(file: RemoteFile, signal: AbortSignal): Promise<Checksum | undefined>
}
