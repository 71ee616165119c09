import { ROUTER_NOBODY } from '../../api/router-wire.ts'

/** One request that has ended, read off the line that HAProxy writes about it (`REQUEST_LOG_FORMAT`). */
export interface EndedRequest {
  readonly version: string
  /** No answer at all, or one of 5xx. A client that went away is nobody's failure. */
  readonly failed: boolean
  readonly latencyMs: number
}

const LINE = /^(?<version>\S+) (?<status>-?\d+) (?<ms>-?\d+) (?<end>\S)\S*$/
const NO_VERSION = new Set([ROUTER_NOBODY, '<NOSRV>'])

/** Undefined for what went to no version, and for what is no such line. */
export function parseRequestLine(line: string): EndedRequest | undefined {
  const { version, status, ms, end } = LINE.exec(line.trim())?.groups ?? {}
  if (version === undefined || NO_VERSION.has(version)) return undefined
  const code = Number(status)
  const unanswered = code <= 0 && end !== 'C'
  return { version, failed: unanswered || code >= 500, latencyMs: Math.max(0, Number(ms)) }
}
