/** Sends requests over connections that stay open, several at once, and keeps the books. */
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'

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
  readonly connections?: number
  readonly path?: string
  readonly body?: string
  /** What to make of an answer; the whole of it if absent. */
  readonly read?: (text: string) => string
  /** How often to send again what got no answer since its connection was closed or refused; answers are final. */
  readonly again?: number
  /** Called with the number of requests that have ended. */
  readonly progress?: (ended: number) => void
}

export async function load(url: string, options: LoadOptions): Promise<LoadResult> {
  const { requests, connections = 16, path = '/', body, read = (text) => text, again = 0, progress } = options
  const dispatcher = new Agent({ connections, pipelining: 1 })
  const answers = new Map<string, number>()
  const failures: string[] = []
  let begun = 0
  let ended = 0
  let repeated = 0
  let slowestMs = 0
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const one = async (left = again): Promise<void> => {
    const from = performance.now()
    try {
      const call = { dispatcher, headers, ...(body === undefined ? {} : { method: 'POST' as const, body }) }
      const response = await request(`${url}${path}`, call)
      const text = await response.body.text()
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - from))
      const answer = response.statusCode === 200 ? read(text) : undefined
      if (answer === undefined) failures.push(String(response.statusCode))
      else answers.set(answer, (answers.get(answer) ?? 0) + 1)
    } catch (error) {
      if (left > 0) {
        repeated += 1
        await delay(AGAIN_MS)
        return one(left - 1)
      }
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  const client = async (): Promise<void> => {
    while (begun < requests) {
      begun += 1
      await one()
      ended += 1
      progress?.(ended)
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: connections }, client))
  await dispatcher.close()
  return { answers, failures, repeated, slowestMs, seconds: (performance.now() - from) / 1_000 }
}
