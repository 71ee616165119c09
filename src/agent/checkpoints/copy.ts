/** Copies a complete checkpoint from one store to another. */
import { ChangedError } from '../transfer/error.ts'
import type { RetryPolicy } from '../transfer/retry.ts'
import { contentOf } from './content.ts'
import { type Checkpoint, checkpointOf } from './inspection.ts'
import { type CheckpointStore, type Content, OccupiedError } from './store.ts'

export interface CopyOptions {
  readonly retryPolicy: RetryPolicy
  readonly signal: AbortSignal
}

export interface Transfer {
  readonly from: CheckpointStore
  readonly to: CheckpointStore
  readonly name: string
}

/** Copies the checkpoint under its name. Throws OccupiedError if another content has this name. */
export async function copyAs({ from, to, name }: Transfer, options: CopyOptions): Promise<Checkpoint> {
  const content = await openContent(from, name, options)
  await to.write(name, content, options.signal)
  return checkpointOf(name, content.marker)
}

/** Copies the checkpoint under its name, or under a name with a suffix if another content has it. Returns the copy. */
export async function copyBeside({ from, to, name }: Transfer, options: CopyOptions): Promise<Checkpoint> {
  const content = await openContent(from, name, options)
  try {
    await to.write(name, content, options.signal)
    return checkpointOf(name, content.marker)
  } catch (error) {
    if (!(error instanceof OccupiedError)) throw error
  }
  const other = `${name.slice(0, LONGEST - SUFFIX)}-${content.marker.digest.slice(0, SUFFIX - 1)}`
  await to.write(other, content, options.signal)
  return checkpointOf(other, content.marker)
}

/** Of a name, in characters. */
const LONGEST = 128
const SUFFIX = 9

async function openContent(from: CheckpointStore, name: string, options: CopyOptions): Promise<Content> {
  const content = await contentOf(from, name, options)
  if (content === undefined) throw new ChangedError(`${from.shown}/${name} is not a complete checkpoint any more`)
  return content
}
