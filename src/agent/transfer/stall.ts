/** Reads from the network with a limit on inactivity. */
import { ChangedError, TransferError, TransientError } from './error.ts'
import type { Bytes } from './bytes.ts'

/** Yields the bytes of `open`. Throws TransientError if nothing arrives for `stallMs`, or if the connection breaks. */
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
      // The time of the consumer does not count.
      timer.refresh()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (stalled.signal.aborted) throw new TransientError(`no data for ${stallMs / 1_000} s`)
    throw asTransient(error)
  } finally {
    clearTimeout(timer)
  }
}

function asTransient(error: unknown): Error {
  if (error instanceof TransferError || error instanceof ChangedError || error instanceof TransientError) return error
  return new TransientError(error instanceof Error ? error.message : String(error), { cause: error })
}
