import { keyOf } from '../kube/object.ts'
import { spread } from './backoff.ts'
import type { Cache } from './cache.ts'
import type { Cancel, Clock } from './clock.ts'
import type { WorkQueue } from './workqueue.ts'

export interface ResyncOptions {
  readonly primary: Cache
  readonly queue: WorkQueue
  readonly clock: Clock
  readonly everyMs: number
}

/** Intervals vary by this share, so that controllers do not resync at the same time. */
const JITTER = 0.1

/** Queues every object of a cache at intervals, as background work. */
export class Resync {
  readonly #options: ResyncOptions
  #cancel: Cancel = () => undefined

  constructor(options: ResyncOptions) {
    this.#options = options
  }

  start(): void {
    const { clock, primary, queue, everyMs } = this.#options
    const resync = (): void => {
      for (const object of primary.list()) queue.add(keyOf(object), 'background')
      this.start()
    }
    this.#cancel = clock.setTimeout(resync, spread(everyMs, JITTER, Math.random()))
  }

  stop(): void {
    this.#cancel()
  }
}
