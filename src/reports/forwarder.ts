/**
 * Sends a report to the leader, with the token of the pod. The leader verifies it like any other, so replicas need no trust
 * in each other. The connection is verified by the name of the Service: a token never reaches another process.
 */
import { Agent, request } from 'undici'
import type { Answer } from '../net/http-server.ts'

/** On a forwarded report, which is not forwarded again. */
export const FORWARDED = 'ml-operator-forwarded'

export interface ForwardedReport {
  readonly path: string
  readonly token: string
  readonly body: string
}

export type Forward = (report: ForwardedReport) => Promise<Answer>

export interface ForwarderOptions {
  /** `host:port` of the leader, if it is known. */
  readonly leaderAddress: () => string | undefined
  /** DNS name in the certificate of the replicas. */
  readonly serverName: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const MAX_CONNECTIONS = 16
const MAX_RUNNING = 128
const MAX_ANSWER = 4_096

const unavailable = (reason: string): Answer => ({ status: 503, body: `${reason}: try again\n` })

export class Forwarder {
  readonly #options: ForwarderOptions
  #agent: Agent | undefined
  #running = 0

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  /** The authorities to trust, PEM. */
  useAuthorities(ca: string): void {
    const { serverName: servername } = this.#options
    void this.#agent?.close()
    this.#agent = new Agent({ connections: MAX_CONNECTIONS, connect: { ca, servername, timeout: TIMEOUT_MS } })
  }

  async forward({ path, token, body }: ForwardedReport): Promise<Answer> {
    const address = this.#options.leaderAddress()
    if (this.#agent === undefined || address === undefined) return unavailable('no leader is known')
    if (this.#running >= MAX_RUNNING) return unavailable('too many reports')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', [FORWARDED]: '1' }
    this.#running += 1
    try {
      const signal = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS)
      const options = { method: 'POST', headers, body, signal, dispatcher: this.#agent } as const
      const answer = await request(`https://${address}${path}`, options)
      return { status: answer.statusCode, body: (await answer.body.text()).slice(0, MAX_ANSWER) }
    } catch {
      return unavailable('the leader does not respond')
    } finally {
      this.#running -= 1
    }
  }

  async close(): Promise<void> {
    await this.#agent?.destroy()
  }
}
