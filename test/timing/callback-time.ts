/**
 * Measures how long single callbacks block the event loop, in CPU time of this thread. So neither a busy machine nor many
 * short callbacks in a row count.
 */
import { createHook } from 'node:async_hooks'

/** Reports every callback of this thread from now on. */
export function watchCallbacks(ended: (ms: number) => void): void {
  const begun: number[] = []
  createHook({
    before: () => void begun.push(cpuMs()),
    after: () => ended(cpuMs() - (begun.pop() ?? Infinity)),
  }).enable()
}

export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
