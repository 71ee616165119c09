/**
 * Converts reviews one at a time in a separate thread, so that a large or malicious review delays neither the renewal of
 * the lease nor the probes. A review that takes too long or fails unexpectedly ends the thread, not the process: it is
 * answered with 503, and the next review starts a new thread. Memory is limited before, in `review-bytes.ts`: a thread
 * that runs out of memory would end the process.
 */
import { Worker } from 'node:worker_threads'
import type { AnswerBytes } from './review-bytes.ts'
import { errorResponse } from './review-bytes.ts'

/** The API server waits 30 s for a conversion. */
const TIMEOUT_MS = 20_000
/** Twice the need of the largest review. */
const HEAP_MB = 320

export interface ReviewThreadOptions {
  readonly timeoutMs?: number
  /** The program of the thread; for tests. */
  readonly program?: URL
}

export class ReviewThread {
  readonly #timeoutMs: number
  readonly #program: URL
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor({
    timeoutMs = TIMEOUT_MS,
    program = new URL('review-worker.ts', import.meta.url),
  }: ReviewThreadOptions = {}) {
    this.#timeoutMs = timeoutMs
    this.#program = program
  }

  /**
   * Transfers the bytes to the thread: they can no longer be read here. Does not convert a review whose client has
   * disconnected when its turn comes. Never rejects.
   */
  convert(body: Uint8Array<ArrayBuffer>, isAwaited: () => boolean = () => true): Promise<AnswerBytes> {
    const answer = this.#last.then(() =>
      isAwaited() ? this.#convertNow(body) : errorResponse(503, 'the client has disconnected'),
    )
    this.#last = answer
    return answer
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  async #convertNow(body: Uint8Array<ArrayBuffer>): Promise<AnswerBytes> {
    const worker = (this.#worker ??= this.#start())
    return new Promise((resolve) => {
      const settle = (answer: AnswerBytes): void => {
        clearTimeout(timer)
        worker.removeAllListeners('message').removeAllListeners('exit')
        resolve(answer)
      }
      const giveUp = (why: string): void => {
        if (this.#worker === worker) this.#worker = undefined
        void worker.terminate()
        settle(errorResponse(503, `the review ${why}`))
      }
      const timer = setTimeout(() => giveUp(`took longer than ${this.#timeoutMs} ms`), this.#timeoutMs)
      worker.on('message', settle)
      worker.on('exit', () => giveUp('ended the conversion thread'))
      worker.postMessage(body, [body.buffer])
    })
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
    worker.unref()
    worker.on('error', () => undefined) // followed by 'exit'
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }
}
