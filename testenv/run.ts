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
 * Begins a run in a directory of its own: either the start succeeds, or nothing is left of it. Between asking for a
 * free port and listening on it somebody else may take it; then the start is tried again with other ports.
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
