/**
 * One request and its response over a pool of connections. Settles exactly once, by whatever comes first: the response, a
 * transport error, the timeout or the caller's abort.
 */
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { ConnectionError } from './errors.ts'
import type { Call, Response } from './interceptor.ts'

export interface Wire {
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly basePath: string
  readonly headers: Record<string, string>
}

/** The response was not complete in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
  readonly code = 'ETIMEDOUT'
}

export function exchange(wire: Wire, call: Call): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) {
      reject(call.signal.reason as Error)
      return
    }
    const { dispatcher, origin, basePath, headers } = wire
    const handler = new ExchangeHandler(call, resolve, reject)
    const request = { origin, method: call.method, path: basePath + call.path, headers, body: call.body ?? null }
    try {
      dispatcher.dispatch(request, handler)
    } catch (error) {
      handler.onResponseError(undefined, asError(error))
    }
  })
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #call: Call
  readonly #resolve: (response: Response) => void
  readonly #reject: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  readonly #onAbort = () => this.#giveUp(this.#call.signal?.reason)
  #controller: Dispatcher.DispatchController | undefined
  #givenUp: { readonly reason: unknown } | undefined
  #status = 0
  #headers: Response['headers'] = {}
  #chunks: Buffer[] = []
  #stream: Readable | undefined

  constructor(call: Call, resolve: (response: Response) => void, reject: (error: unknown) => void) {
    this.#call = call
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.#giveUp(this.#timeout()), call.timeoutMs)
    call.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** The request is about to be written. Before this, the server cannot have received it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#givenUp) controller.abort(asError(this.#givenUp.reason))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Response['headers']): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (!this.#call.stream || status >= 300) return
    clearTimeout(this.#timer)
    this.#stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#release()
        controller.abort(error ?? new Error('the reader stopped'))
        done(error)
      },
    })
    this.#stream.on('error', ignore) // the reader gets the error; without a reader it must not end the process
    this.#resolve({ status, headers, body: this.#stream })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#stream) this.#chunks.push(chunk)
    else if (!this.#stream.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#release()
    if (this.#stream) this.#stream.push(null)
    else this.#resolve({ status: this.#status, headers: this.#headers, body: decodeChunks(this.#chunks) })
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#release()
    const failure = this.#givenUp ? this.#givenUp.reason : this.#connectionError(error)
    if (this.#stream) this.#stream.destroy(asError(failure))
    else this.#reject(failure)
  }

  #giveUp(reason: unknown): void {
    this.#release()
    this.#givenUp = { reason }
    this.#reject(reason)
    this.#stream?.destroy(asError(reason))
    this.#controller?.abort(asError(reason))
  }

  #timeout(): ConnectionError {
    return this.#connectionError(new TimeoutError(`no complete response within ${this.#call.timeoutMs} ms`))
  }

  #connectionError(cause: Error): ConnectionError {
    return new ConnectionError(this.#call, cause, this.#controller !== undefined)
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#call.signal?.removeEventListener('abort', this.#onAbort)
  }
}

function decodeChunks(chunks: readonly Buffer[]): string {
  const [first] = chunks
  return (chunks.length === 1 && first ? first : Buffer.concat(chunks)).toString('utf8')
}

function ignore(): void {}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
