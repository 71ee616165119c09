/** An object store: objects by key. A store neither retries nor knows what its objects mean. */
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import type { Checksum } from '../transfer/checksum.ts'

export interface StoredObject {
  readonly key: string
  readonly size: number
  readonly identity: string
  /** In milliseconds since the epoch, if the store tells. */
  readonly changedAt?: number
}

export interface ObjectStore {
  /** The object with this key, if it exists. */
  head(key: string, signal: AbortSignal): Promise<StoredObject | undefined>
  list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject>
  read(object: Pick<StoredObject, 'key' | 'identity'>, range: ByteRange, signal: AbortSignal): Promise<Bytes>
  checksum(object: Pick<StoredObject, 'key' | 'identity'>, signal: AbortSignal): Promise<Checksum | undefined>
}

/** A store that lists by folder, and that can be written. */
export interface WritableStore extends ObjectStore {
  /** What is directly below a prefix that ends with a slash, or below the bucket. */
  entries(prefix: string, signal: AbortSignal): AsyncIterable<ObjectEntry>
  /** Writes a small object as a whole. */
  put(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** Begins to write a large object. It appears as a whole when the upload ends. */
  upload(key: string, size: number, signal: AbortSignal): Promise<Upload>
  /** Does nothing if there is no such object. */
  remove(key: string, signal: AbortSignal): Promise<void>
}

export interface ObjectEntry {
  /** Without the prefix. Empty for the object that marks an empty folder. */
  readonly name: string
  readonly isFolder: boolean
}

export interface Upload {
  /** The size of all parts but the last one. */
  readonly partBytes: number
  /** Whether parts may be written at the same time. Otherwise they are written in order. */
  readonly isParallel: boolean
  /** May be repeated. */
  put(index: number, bytes: Uint8Array, signal: AbortSignal): Promise<void>
  finish(signal: AbortSignal): Promise<void>
  /** Discards the parts. */
  abort(signal: AbortSignal): Promise<void>
}

/** The size of a part, and of the largest object that is written as a whole. A multiple of 256 KiB. */
export const PART_BYTES = 8 * 1_024 * 1_024

export type Access = 'read' | 'write'
