import { ROUTER_NOBODY } from '../../api/router-wire.ts'

/** A finished request, parsed from a line of HAProxy's request log (`REQUEST_LOG_FORMAT`). */
export interface EndedRequest {
  readonly version: string
  /** No response, or 5xx. A request that the client has aborted did not fail. */
  readonly failed: boolean
  readonly latencyMs: number
}

const LINE = /^(?<version>\S+) (?<status>-?\d+) (?<ms>-?\d+) (?<end>\S)\S*$/
const NO_VERSION = new Set([ROUTER_NOBODY, '<NOSRV>'])

/** Undefined for requests without a version and for invalid lines. */
export function parseRequestLine(line: string): EndedRequest | undefined {
  const { version, status, ms, end } = LINE.exec(line.trim())?.groups ?? {}
  if (version === undefined || NO_VERSION.has(version) || !Number.isSafeInteger(Number(ms))) return undefined
  const code = Number(status)
  const unanswered = code <= 0 && end !== 'C'
  return { version, failed: unanswered || code >= 500, latencyMs: Math.max(0, Number(ms)) }
}
