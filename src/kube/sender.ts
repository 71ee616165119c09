/**
 * Sends calls, and retries them: nothing else does. Each attempt has a fresh credential and passes the interceptors;
 * `retry.ts` decides about the next one. All attempts share the timeout of the call and the retry budget of the client.
 */
import type { Credential, CredentialSource } from './client-config.ts'
import { ApiError } from './errors.ts'
import type { Status } from './errors.ts'
import { intercepted } from './interceptor.ts'
import type { Call, Interceptor, Response } from './interceptor.ts'
import { RetryBudget } from './retry-budget.ts'
import { retryDelayMs } from './retry.ts'
import type { Replay } from './retry.ts'
import { sleep } from './sleep.ts'

/** A call as a verb builds it, without what differs between attempts. */
export type Intent = Omit<Call, 'attempt' | 'timeoutMs' | 'signal'> & Replay

export interface Limits {
  readonly signal?: AbortSignal | undefined
  /** For the whole call including retries; for a stream, until it begins. */
  readonly timeoutMs?: number | undefined
  /** False: never retry; the caller does. */
  readonly retry?: boolean
}

export interface SenderOptions {
  readonly send: (call: Call, credential: Credential) => Promise<Response>
  readonly credentials: CredentialSource
  readonly interceptors: readonly Interceptor[]
}

const CALL_TIMEOUT_MS = 60_000
const ATTEMPT_TIMEOUT_MS = 20_000

export class Sender {
  readonly #options: SenderOptions
  readonly #budget = new RetryBudget()

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** Returns a successful response. Throws ApiError if the server rejects the call. */
  async send(intent: Intent, { signal, timeoutMs = CALL_TIMEOUT_MS, retry = true }: Limits): Promise<Response> {
    const deadline = performance.now() + timeoutMs
    let credential = await this.#options.credentials()
    let refreshed = false
    for (let attempt = 1; ; attempt++) {
      const call = buildAttempt(intent, attempt, Math.min(ATTEMPT_TIMEOUT_MS, deadline - performance.now()), signal)
      try {
        return await this.#attempt(call, credential)
      } catch (error) {
        signal?.throwIfAborted()
        const newer = refreshed ? credential : await this.#newerCredential(error, credential)
        if (newer !== credential) {
          credential = newer
          refreshed = true
          continue
        }
        const delayMs = retry ? retryDelayMs(error, intent, attempt, Math.random) : undefined
        const now = performance.now()
        if (delayMs === undefined || now + delayMs >= deadline || !this.#budget.take(now)) throw error
        await sleep(delayMs, signal)
        credential = await this.#options.credentials()
      }
    }
  }

  async #attempt(call: Call, credential: Credential): Promise<Response> {
    const send = intercepted(this.#options.interceptors, (last) => this.#options.send(last, credential))
    const response = await send(call)
    if (response.status >= 300) throw apiError(call, response)
    return response
  }

  /** After a 401, a newer credential if the source has one; else the same credential. */
  async #newerCredential(error: unknown, credential: Credential): Promise<Credential> {
    const unauthorized = error instanceof ApiError && error.code === 401
    return unauthorized ? this.#options.credentials(credential) : credential
  }
}

function buildAttempt(intent: Intent, attempt: number, timeoutMs: number, signal: AbortSignal | undefined): Call {
  return { ...intent, attempt, timeoutMs: Math.max(1, Math.ceil(timeoutMs)), ...(signal ? { signal } : {}) }
}

function apiError(call: Call, response: Response): ApiError {
  const text = typeof response.body === 'string' ? response.body : ''
  const status = { ...parseStatus(text), code: response.status }
  return new ApiError(status, call, parseRetryAfter(response.headers['retry-after']))
}

/** A proxy may respond with something other than a Status. */
function parseStatus(text: string): Status {
  try {
    const body = JSON.parse(text) as Status
    if (body.kind === 'Status') return body
  } catch {
    // not JSON: the text is the message
  }
  return text === '' ? {} : { message: text.slice(0, 500) }
}

/** The header has seconds or a date. */
function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
