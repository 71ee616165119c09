/** Preloaded into the operator's process: logs every callback that blocks the event loop for too long. */
import { watchCallbacks } from '../timing/callback-time.ts'

export const HELD = 'event loop held'

const BOUND_MS = 50

if (process.argv.includes('operator'))
  watchCallbacks((held) => {
    if (held > BOUND_MS) process.stderr.write(`${JSON.stringify({ msg: HELD, cpuMs: held })}\n`)
  })
