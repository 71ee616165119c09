/** Bytes off the network, or an error in bounded time. */
import { ChangedError, FetchError, TransientError } from './error.ts'
import type { Bytes } from './source.ts'

/** Passes on what `open` gives; a silence longer than `stallMs`, and whatever breaks on the way, is a TransientError. */
export async function* unlessStalled(
  open: (signal: AbortSignal) => Promise<Bytes>,
  stallMs: number,
  signal: AbortSignal,
): Bytes {
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(), stallMs)
  try {
    for await (const bytes of await open(AbortSignal.any([signal, stalled.signal]))) {
      timer.refresh()
      yield bytes
      // The disk has had its time in between.
      timer.refresh()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (stalled.signal.aborted) throw new TransientError(`nothing was received for ${stallMs / 1_000} s`)
    throw asTransient(error)
  } finally {
    clearTimeout(timer)
  }
}

function asTransient(error: unknown): Error {
  if (error instanceof FetchError || error instanceof ChangedError || error instanceof TransientError) return error
  return new TransientError(error instanceof Error ? error.message : String(error), { cause: error })
}
