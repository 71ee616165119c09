/** Sends requests over connections that stay open, several at once, and keeps the books. */
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'

/** An answer that ended before its end. Some of it is with the client already: nobody but the client can ask again. */
export const CUT_SHORT = 'the answer was cut short'

/** Before what got no answer is sent again. */
const AGAIN_MS = 20

export interface LoadResult {
  /** Answers of 200, by what they said. */
  readonly answers: ReadonlyMap<string, number>
  /** Everything else, as `500` or as the error's words. */
  readonly failures: readonly string[]
  /** How often a request was sent again. */
  readonly repeated: number
  /** The longest that an answer took. */
  readonly slowestMs: number
  readonly seconds: number
}

export interface LoadOptions {
  readonly requests: number
  /** Ends the load before all requests are sent. */
  readonly isOver?: () => boolean
  readonly connections?: number
  /** A connection is renewed after so many requests, so that the load follows the Service; never if absent. */
  readonly perConnection?: number
  /** No more requests than this in a second. */
  readonly rate?: number
  readonly path?: string
  /** What to send, by the number of the request. */
  readonly body?: string | ((request: number) => string)
  /** What to make of an answer; the whole of it if absent. */
  readonly read?: (text: string) => string
  /** How often to send again what got no answer since its connection was closed or refused; answers are final. */
  readonly again?: number
  /** Called with the number of requests that have ended. */
  readonly progress?: (ended: number) => void
}

export async function load(url: string, options: LoadOptions): Promise<LoadResult> {
  const {
    requests,
    isOver = () => false,
    connections = 16,
    perConnection,
    rate = Infinity,
    again = 0,
    progress,
  } = options
  const pool = new Pool(url, {
    connections,
    pipelining: 1,
    ...(perConnection && { maxRequestsPerClient: perConnection }),
  })
  const books = new Books(options.read)
  let begun = 0
  let ended = 0
  const from = performance.now()
  const one = async (call: Call, left = again): Promise<void> => {
    const sentAt = performance.now()
    let isBegun = false
    try {
      const { statusCode, body } = await pool.request(call)
      isBegun = true
      books.answered(statusCode, await body.text(), performance.now() - sentAt)
    } catch (error) {
      if (left === 0) return books.failed(isBegun ? CUT_SHORT : error)
      books.repeated += 1
      await delay(AGAIN_MS)
      return one(call, left - 1)
    }
  }
  const client = async (): Promise<void> => {
    while (begun < requests && !isOver()) {
      const number = begun++
      await delayUntil(from + (number / rate) * 1_000)
      await one(callOf(options, number))
      progress?.(++ended)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  await pool.close()
  return books.result((performance.now() - from) / 1_000)
}

type Call = ReturnType<typeof callOf>

function callOf({ path = '/', body }: LoadOptions, number: number) {
  if (body === undefined) return { path, method: 'GET' as const }
  const text = typeof body === 'string' ? body : body(number)
  return { path, method: 'POST' as const, body: text, headers: { 'content-type': 'application/json' } }
}

async function delayUntil(moment: number): Promise<void> {
  const ms = moment - performance.now()
  if (ms > 0) await delay(ms)
}

class Books {
  readonly #answers = new Map<string, number>()
  readonly #failures: string[] = []
  readonly #read: (text: string) => string
  #slowestMs = 0
  repeated = 0

  constructor(read = (text: string) => text) {
    this.#read = read
  }

  answered(status: number, text: string, ms: number): void {
    this.#slowestMs = Math.max(this.#slowestMs, Math.round(ms))
    if (status !== 200) return void this.#failures.push(String(status))
    const answer = this.#read(text)
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1)
  }

  failed(error: unknown): void {
    this.#failures.push(error instanceof Error ? error.message : String(error))
  }

  result(seconds: number): LoadResult {
    const { repeated } = this
    return { answers: this.#answers, failures: this.#failures, repeated, slowestMs: this.#slowestMs, seconds }
  }
}
