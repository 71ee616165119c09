/**
 * Storage of checkpoints: a directory or a bucket. The root has one folder for each checkpoint.
 *
 * Contract
 * - A store reads, writes and deletes nothing outside of its root, whatever the names and links below it are.
 * - Throws TransientError if a retry may help, ChangedError if a file has changed since it was listed, TransferError if a
 *   retry does not help. Everything may be repeated.
 * - A write that is killed at any time leaves nothing that counts as a complete checkpoint. Its repetition continues it.
 * - Memory and the number of connections do not depend on the size of a checkpoint.
 */
import { isCheckpointName } from '../../api/checkpoint-result.ts'
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import type { Marker } from './marker.ts'

/** What is directly below the root. */
export interface Entry {
  /** As it is: anything. */
  readonly name: string
  readonly isFolder: boolean
}

/** A file of a checkpoint. Links and special files are not listed. */
export interface StoredFile {
  /** Relative to the folder, with slashes. */
  readonly path: string
  readonly size: number
  /** Changes whenever the content does. */
  readonly identity: string
  /** In milliseconds since the epoch. */
  readonly changedAt: number
}

/** What to write: a complete checkpoint elsewhere. */
export interface Content {
  readonly marker: Marker
  /** The size is that of the marker; the bytes end early or late only with an error. */
  read(path: string, range: ByteRange, signal: AbortSignal): Bytes
  /** Throws ChangedError if the checkpoint was replaced meanwhile, so that files of two saves never mix. */
  verify(signal: AbortSignal): Promise<void>
}

export interface CheckpointStore {
  /** The root, for messages. */
  readonly shown: string
  list(signal: AbortSignal): AsyncIterable<Entry>
  files(folder: string, signal: AbortSignal): AsyncIterable<StoredFile>
  read(folder: string, file: StoredFile, range: ByteRange, signal: AbortSignal): Promise<Bytes>
  /** Makes the folder a complete checkpoint. Throws OccupiedError if it has other content. */
  write(folder: string, content: Content, signal: AbortSignal): Promise<void>
  /** Deletes a checkpoint, or what an unfinished write has left. It stops to be complete at once. */
  delete(folder: string, signal: AbortSignal): Promise<void>
}

/** The folder exists with other content. */
export class OccupiedError extends Error {
  override readonly name = 'OccupiedError'
}

/** Marks what the agent has begun to write or to delete: folders of a directory, objects in a folder of a bucket. */
export const UNFINISHED = '.tmp-agent-'

/** Only checkpoints, and what unfinished writes have left, can be deleted. */
export function isDeletable(folder: string): boolean {
  return isCheckpointName(folder) || /^\.tmp-[A-Za-z0-9._-]+$/.test(folder)
}

export function assertDeletable(folder: string): void {
  if (!isDeletable(folder)) throw new Error(`${JSON.stringify(folder)} is not the name of a checkpoint`)
}
