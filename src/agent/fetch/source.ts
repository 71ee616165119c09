/**
 * The source of a model. A source lists files and reads ranges of them; it neither retries nor writes.
 *
 * Contract
 * - Throws TransientError if a retry may help, TransferError if not, ChangedError if the content has changed since the list.
 * - `path` is relative and safe: see `relativePath`.
 */
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import type { Checksum } from '../transfer/checksum.ts'

export interface RemoteFile {
  /** The name of the file at the source. */
  readonly key: string
  /** Its path below the model's directory, with slashes. */
  readonly path: string
  /** In bytes; absent if the server does not report it. */
  readonly size?: number
  /** Changes whenever the content does. Without it, the file is fetched again every time. */
  readonly identity?: string
  /** Whether ranges can be read, so that a download can resume. */
  readonly hasRanges: boolean
}

export interface Source {
  /** The URI without credentials, for messages. */
  readonly shown: string
  /** At least one file. */
  list(signal: AbortSignal): Promise<readonly RemoteFile[]>
  read(file: RemoteFile, range: ByteRange, signal: AbortSignal): Promise<Bytes>
  /** The checksum of the content that the server reports, if any. */
  checksum(file: RemoteFile, signal: AbortSignal): Promise<Checksum | undefined>
}
