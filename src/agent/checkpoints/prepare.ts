/** Finds the checkpoint that an attempt resumes from. Imports one into an empty storage, and deletes old ones. */
import type { FoundCheckpoint, PreparedCheckpoints } from '../../api/checkpoint-result.ts'
import { TransferError } from '../transfer/error.ts'
import { retrying } from '../transfer/retry.ts'
import { copyBeside } from './copy.ts'
import { type Checkpoint, inspect, listCheckpoints, type Listing } from './inspection.ts'
import { prune, type PruneOptions } from './prune.ts'
import type { CheckpointStore } from './store.ts'

/** Where to resume from: the root of several checkpoints, or one checkpoint of a root. */
export interface Origin {
  readonly shown: string
  readonly root: CheckpointStore
  readonly one?: { readonly store: CheckpointStore; readonly name: string }
}

export async function prepareCheckpoints(
  store: CheckpointStore,
  origin: Origin | undefined,
  options: PruneOptions,
): Promise<PreparedCheckpoints> {
  const listing = await list(store, options)
  const pruned = await prune(store, listing, options)
  const [newest] = listing.complete
  if (newest !== undefined || origin === undefined) {
    return resultOf(listing, newest, { count: listing.complete.length - pruned, pruned, imported: false })
  }
  const copied = await importFrom(origin, store, options)
  return resultOf(listing, copied, { count: 1, pruned, imported: true })
}

function list(store: CheckpointStore, { retryPolicy, signal }: PruneOptions): Promise<Listing> {
  return retrying(retryPolicy, signal, () => listCheckpoints(store, signal))
}

async function importFrom(origin: Origin, to: CheckpointStore, options: PruneOptions): Promise<Checkpoint> {
  const { from, name } = (await chosen(origin, options)) ?? {}
  if (from === undefined || name === undefined) {
    throw new TransferError(
      'ArtifactNotFound',
      `${origin.shown} has no complete checkpoint: correct spec.checkpoint.resumeFrom, or remove it`,
    )
  }
  options.log(`copying ${from.shown}/${name} to ${to.shown}`)
  return copyBeside({ from, to, name }, options)
}

async function chosen(
  { one, root }: Origin,
  options: PruneOptions,
): Promise<{ readonly from: CheckpointStore; readonly name: string } | undefined> {
  const { retryPolicy, signal } = options
  if (one !== undefined) {
    const { state } = await retrying(retryPolicy, signal, () => inspect(one.store, one.name, signal))
    if (state === 'complete') return { from: one.store, name: one.name }
  }
  const [newest] = (await list(root, options)).complete
  return newest === undefined ? undefined : { from: root, name: newest.name }
}

function resultOf(
  { hasOther }: Listing,
  latest: FoundCheckpoint | undefined,
  counts: Pick<PreparedCheckpoints, 'count' | 'pruned' | 'imported'>,
): PreparedCheckpoints {
  return {
    ...(latest !== undefined && { latest: { name: latest.name, step: latest.step, time: latest.time } }),
    ...counts,
    ...(hasOther && { other: true as const }),
  }
}
