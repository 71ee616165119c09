/**
 * A route, as the operator writes it. Its values become commands for HAProxy, so all are validated: names, addresses and
 * percentages.
 */
import type { RouteEntry } from '../../api/router-report.ts'

export type Route = readonly RouteEntry[]

/** The text is not a valid route. */
export class RouteError extends Error {
  override readonly name = 'RouteError'
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/
const ADDRESS = /^(?<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252}):(?<port>\d{1,5})$/
const MAX_VERSIONS = 100

/** Undefined if the text is empty: there is no route yet. */
export function parseRoute(text: string): Route | undefined {
  if (text.trim() === '') return undefined
  const entries = parseJson(text)
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_VERSIONS)
    throw new RouteError(`a route must be a list of 1 to ${MAX_VERSIONS} versions`)
  const route = entries.map(parseEntry)
  const sum = route.reduce((total, { weight }) => total + weight, 0)
  if (sum !== 100) throw new RouteError(`the weights must sum to 100, not ${sum}`)
  if (new Set(route.map(({ version }) => version)).size < route.length)
    throw new RouteError('a version appears more than once')
  return route
}

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
  if (typeof version !== 'string' || !NAME.test(version))
    throw new RouteError('the name of a version must consist of letters and digits')
  if (typeof address !== 'string' || !isAddress(address)) throw new RouteError(`${version}: address must be host:port`)
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 0 || weight > 100)
    throw new RouteError(`${version}: weight must be an integer from 0 to 100`)
  return { version, address, weight }
}

function isAddress(address: string): boolean {
  const { port } = hostAndPort(address)
  return port >= 1 && port <= 65_535
}
