/** Deletes checkpoints beyond the newest ones, and what killed runs have left. */
import { retrying } from '../transfer/retry.ts'
import type { CopyOptions } from './copy.ts'
import { type Checkpoint, inspect, type Listing } from './inspection.ts'
import type { CheckpointStore } from './store.ts'

/** What has not changed for this time is not in use. */
const ABANDONED_MS = 3_600_000

export interface PruneOptions extends CopyOptions {
  /** How many checkpoints to keep; 0 keeps all. */
  readonly keepLast: number
  readonly log: (line: string) => void
  readonly now: () => number
}

/** Resolves to the number of deleted checkpoints. A checkpoint that cannot be deleted is no failure. */
export async function prune(store: CheckpointStore, listing: Listing, options: PruneOptions): Promise<number> {
  const { keepLast, now } = options
  const abandoned = listing.unfinished.filter(({ changedAt }) => now() - changedAt > ABANDONED_MS)
  for (const { name } of abandoned) await deleteOrLog(store, name, options)
  const [newest] = listing.complete
  const surplus = keepLast === 0 ? [] : listing.complete.slice(keepLast)
  if (newest === undefined || surplus.length === 0 || !(await isComplete(store, newest, options))) return 0
  let count = 0
  // The oldest first, so that a killed run leaves the newest ones.
  for (const { name } of surplus.toReversed()) if (await deleteOrLog(store, name, options)) count++
  return count
}

async function isComplete(
  store: CheckpointStore,
  { name, digest }: Checkpoint,
  options: CopyOptions,
): Promise<boolean> {
  const { retryPolicy, signal } = options
  const found = await retrying(retryPolicy, signal, () => inspect(store, name, signal))
  return found.state === 'complete' && found.marker.digest === digest
}

async function deleteOrLog(store: CheckpointStore, name: string, options: PruneOptions): Promise<boolean> {
  const { retryPolicy, signal, log } = options
  try {
    await retrying(retryPolicy, signal, () => store.delete(name, signal))
    log(`deleted ${store.shown}/${name}`)
    return true
  } catch (error) {
    signal.throwIfAborted()
    log(`cannot delete ${store.shown}/${name}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}
