import { register } from './registry.ts'
import { startReaper } from './reaper.ts'
import { createRunDirectory, tearDown } from './run-directory.ts'

export interface RunOptions {
  /** Keep running when the starting process ends, until `make cluster-down`. */
  readonly persistent?: boolean
}

const PORT_TAKEN = /address already in use/
const ATTEMPTS = 3

/**
 * Starts a run in a new run directory. A failed start leaves nothing behind. If another process takes a free port before it is used,
 * the start is retried with other ports.
 */
export async function startRun<T>(options: RunOptions, start: (runDirectory: string) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const runDirectory = createRunDirectory()
    if (options.persistent === true) register(runDirectory)
    else startReaper(runDirectory)
    try {
      return await start(runDirectory)
    } catch (error) {
      await tearDown(runDirectory)
      if (attempt === ATTEMPTS || !PORT_TAKEN.test(String(error))) throw error
    }
  }
}
