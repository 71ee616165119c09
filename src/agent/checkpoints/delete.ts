/** Deletes all checkpoints of a store, also unfinished ones. Everything else remains. */
import { isCheckpointName } from '../../api/checkpoint-result.ts'
import { retrying } from '../transfer/retry.ts'
import type { CopyOptions } from './copy.ts'
import { inspect } from './inspection.ts'
import { type CheckpointStore, isDeletable } from './store.ts'

/** Resolves to the number of deleted folders. Throws the first failure, after it has tried all. */
export async function deleteCheckpoints(store: CheckpointStore, options: CopyOptions): Promise<number> {
  const { retryPolicy, signal } = options
  const ours = await retrying(retryPolicy, signal, () => foldersOf(store, signal))
  const failures: unknown[] = []
  for (const name of ours) {
    try {
      await retrying(retryPolicy, signal, () => store.delete(name, signal))
    } catch (error) {
      signal.throwIfAborted()
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return ours.length
}

async function foldersOf(store: CheckpointStore, signal: AbortSignal): Promise<readonly string[]> {
  const folders: string[] = []
  for await (const { name, isFolder } of store.list(signal)) {
    if (isFolder && isDeletable(name) && (await isOurs(store, name, signal))) folders.push(name)
  }
  return folders
}

/** A folder with a valid marker is ours, also if files are missing. Hidden ones are ours by their name. */
async function isOurs(store: CheckpointStore, name: string, signal: AbortSignal): Promise<boolean> {
  if (!isCheckpointName(name)) return true
  const found = await inspect(store, name, signal)
  return found.state === 'unfinished' || ('marker' in found && found.marker !== undefined)
}
