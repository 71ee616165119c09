/**
 * A route, as the operator writes it. It becomes orders to HAProxy, so every word of it is checked: what is not a name, an
 * address or a percentage never gets that far.
 */
import type { RouteEntry } from '../../api/router-report.ts'

export type Route = readonly RouteEntry[]

/** Why a text is no route. */
export class RouteError extends Error {
  override readonly name = 'RouteError'
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/
const ADDRESS = /^(?<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252}):(?<port>\d{1,5})$/
const MOST_VERSIONS = 100

/** Undefined if nothing is written: there is no route yet. */
export function parseRoute(text: string): Route | undefined {
  if (text.trim() === '') return undefined
  const entries = jsonOf(text)
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MOST_VERSIONS)
    throw new RouteError(`a route is a list of 1 to ${MOST_VERSIONS} versions`)
  const route = entries.map(entryOf)
  const sum = route.reduce((total, { weight }) => total + weight, 0)
  if (sum !== 100) throw new RouteError(`the weights sum to ${sum}, not to 100`)
  if (new Set(route.map(({ version }) => version)).size < route.length)
    throw new RouteError('a version is named more than once')
  return route
}

export function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const { host = '', port = '' } = ADDRESS.exec(address)?.groups ?? {}
  return { host, port: Number(port) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new RouteError('a route is written in JSON', { cause: error })
  }
}

function entryOf(value: unknown): RouteEntry {
  const { version, address, weight } = (value ?? {}) as Partial<Record<keyof RouteEntry, unknown>>
  if (typeof version !== 'string' || !NAME.test(version))
    throw new RouteError('a version has a name of letters and digits')
  if (typeof address !== 'string' || !isAddress(address)) throw new RouteError(`${version}: its address is host:port`)
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 0 || weight > 100)
    throw new RouteError(`${version}: its weight is a whole number from 0 to 100`)
  return { version, address, weight }
}

function isAddress(address: string): boolean {
  const { port } = hostAndPort(address)
  return port >= 1 && port <= 65_535
}
