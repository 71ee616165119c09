/** Plays the histories of the seeds in `workerData` in a thread. Answers with the number of checked writes. */
import { parentPort, workerData } from 'node:worker_threads'
import { planServing } from '../../src/plan/serving/index.ts'
import { play } from './serving-history.ts'

export interface Seeds {
  readonly first: number
  readonly last: number
  readonly step: number
}

const { first, last, step } = workerData as Seeds
let writes = 0
for (let seed = first; seed <= last; seed += step) {
  try {
    writes += play(seed, (observed) => planServing(observed)).writes
  } catch (error) {
    throw new Error(`seed ${seed}: ${String(error)}`, { cause: error })
  }
}
parentPort?.postMessage(writes) // eslint-disable-line unicorn/require-post-message-target-origin -- a thread, not a window
