/**
 * A route, as the operator writes it. Its values become configuration of Envoy, so all are validated: names, addresses,
 * percentages and rules.
 */
import type { MatchRule, RouteEntry, RouteRules } from '../../api/router-report.ts'

export interface Route {
  readonly versions: readonly RouteEntry[]
  readonly rules: RouteRules
}

/** The text is not a valid route. */
export class RouteError extends Error {
  override readonly name = 'RouteError'
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/
const ADDRESS = /^(?<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252}):(?<port>\d{1,5})$/
/** The name of a header or cookie. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/
const VALUE = /^[\x20-\x7E]{1,1024}$/
const MAX_VERSIONS = 100
const MAX_RULES = 32

/** Undefined if the text is empty: there is no route yet. */
export function parseRoute(text: string): Route | undefined {
  if (text.trim() === '') return undefined
  const value = parseJson(text)
  const { versions: entries, ...rules } = (Array.isArray(value) ? { versions: value } : (value ?? {})) as {
    readonly versions?: unknown
  }
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_VERSIONS)
    throw new RouteError(`a route must be a list of 1 to ${MAX_VERSIONS} versions`)
  const versions = entries.map(parseEntry)
  const sum = versions.reduce((total, { weight }) => total + weight, 0)
  if (sum !== 100) throw new RouteError(`the weights must sum to 100, not ${sum}`)
  if (new Set(versions.map(({ version }) => version)).size < versions.length)
    throw new RouteError('a version appears more than once')
  return { versions, rules: parseRules(rules) }
}

function parseRules({ mirror, match, stickiness }: Partial<Record<keyof RouteRules, unknown>>): RouteRules {
  if (match !== undefined && (!Array.isArray(match) || match.length > MAX_RULES))
    throw new RouteError(`match must be a list of at most ${MAX_RULES} rules`)
  return {
    ...(mirror !== undefined && { mirror: parseMirror(mirror) }),
    ...(match !== undefined && { match: (match as unknown[]).map(parseMatch) }),
    ...(stickiness !== undefined && { stickiness: parseStickiness(stickiness) }),
  }
}

function parseMirror(value: unknown): NonNullable<RouteRules['mirror']> {
  const { version, percent } = (value ?? {}) as Partial<Record<string, unknown>>
  if (!isMatching(version, NAME) || !isInteger(percent, 1, 100))
    throw new RouteError('mirror must have a version and a percentage')
  return { version, percent }
}

function parseMatch(value: unknown): MatchRule {
  const { version, header, cookie } = (value ?? {}) as Partial<Record<string, unknown>>
  if (!isMatching(version, NAME) || (header === undefined) === (cookie === undefined))
    throw new RouteError('a rule of match must have a version, and a header or a cookie')
  return { version, ...(header === undefined ? { cookie: parsePair(cookie) } : { header: parsePair(header) }) }
}

function parsePair(pair: unknown): { readonly name: string; readonly value: string } {
  const { name, value } = (pair ?? {}) as Partial<Record<string, unknown>>
  if (!isMatching(name, TOKEN) || !isMatching(value, VALUE))
    throw new RouteError('a header or cookie must have a name and a value without control characters')
  return { name, value }
}

function parseStickiness(value: unknown): NonNullable<RouteRules['stickiness']> {
  const { cookie, header } = (value ?? {}) as Partial<Record<string, unknown>>
  if (isMatching(cookie, TOKEN)) return { cookie }
  if (cookie !== undefined || !isMatching(header, TOKEN))
    throw new RouteError('stickiness must have the name of a cookie or a header')
  return { header }
}

const isMatching = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value)

const isInteger = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max

export function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const { host = '', port = '' } = ADDRESS.exec(address)?.groups ?? {}
  return { host, port: Number(port) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new RouteError('a route must be JSON', { cause: error })
  }
}

function parseEntry(value: unknown): RouteEntry {
  const { version, address, weight } = (value ?? {}) as Partial<Record<keyof RouteEntry, unknown>>
  if (!isMatching(version, NAME)) throw new RouteError('the name of a version must consist of letters and digits')
  if (typeof address !== 'string' || !isAddress(address)) throw new RouteError(`${version}: address must be host:port`)
  if (!isInteger(weight, 0, 100)) throw new RouteError(`${version}: weight must be an integer from 0 to 100`)
  return { version, address, weight }
}

function isAddress(address: string): boolean {
  const { port } = hostAndPort(address)
  return port >= 1 && port <= 65_535
}
