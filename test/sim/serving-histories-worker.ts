/** Plays a share of the histories in a thread of its own: `workerData` says which seeds. Answers with the writes judged. */
import { parentPort, workerData } from 'node:worker_threads'
import { planServing } from '../../src/plan/serving/plan.ts'
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
    writes += play(seed, planServing).writes
  } catch (error) {
    throw new Error(`seed ${seed}: ${String(error)}`, { cause: error })
  }
}
parentPort?.postMessage(writes) // eslint-disable-line unicorn/require-post-message-target-origin -- a thread, not a window
