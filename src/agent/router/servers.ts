/** The servers of HAProxy's backend: one for each version. */
import { ROUTER_BACKEND, ROUTER_NOBODY } from '../../api/router-wire.ts'

export interface Server {
  readonly name: string
  readonly ip: string
  readonly port: number
  /** From 0 to 256, as configured; in use only if `enabled`. */
  readonly weight: number
  /** False in maintenance: the server gets no new requests. */
  readonly enabled: boolean
}

export const SHOW_SERVERS = `show servers state ${ROUTER_BACKEND}`

const COLUMNS = ['srv_name', 'srv_addr', 'srv_port', 'srv_uweight', 'srv_admin_state'] as const
/** Ten times the limit of a route, because draining versions are still listed. */
const MAX_SERVERS = 1_000

/** Parses a table by the names of its columns, so that HAProxy may add columns. */
export function parseServers(response: string): Server[] {
  const lines = response.split('\n').filter((line) => line.trim() !== '')
  const header = lines.find((line) => line.startsWith('# '))
  if (header === undefined) throw new Error(`HAProxy lists no servers of ${ROUTER_BACKEND}: ${response.slice(0, 100)}`)
  const rows = lines.slice(lines.indexOf(header) + 1)
  if (rows.length > MAX_SERVERS) throw new Error(`HAProxy lists ${rows.length} servers of ${ROUTER_BACKEND}: too many`)
  const columns = header.slice(2).split(' ')
  const place = Object.fromEntries(COLUMNS.map((column) => [column, columns.indexOf(column)]))
  const servers = rows.map((row) => {
    const values = row.split(' ')
    const valueOf = (column: (typeof COLUMNS)[number]): string => values[place[column] ?? -1] ?? ''
    return {
      name: valueOf('srv_name'),
      ip: valueOf('srv_addr'),
      port: Number(valueOf('srv_port')),
      weight: Number(valueOf('srv_uweight')),
      enabled: valueOf('srv_admin_state') === '0',
    }
  })
  return servers.filter(({ name }) => name !== ROUTER_NOBODY)
}

export const SHOW_STATISTICS = `show stat ${ROUTER_BACKEND} 4 -1`

/**
 * Failed attempts that were retried, by version, since the start of HAProxy or of the version. The last attempt of a request
 * is in the request log instead.
 */
export function parseRetries(response: string): ReadonlyMap<string, number> {
  const [header = '', ...lines] = response.split('\n').filter((line) => line.trim() !== '')
  const columns = header.replace(/^# /, '').split(',')
  const [name, retries, redispatches] = ['svname', 'wretr', 'wredis'].map((column) => columns.indexOf(column))
  if (name === undefined || name < 0) throw new Error(`HAProxy returns no statistics: ${response.slice(0, 100)}`)
  const rows = lines.map((line) => line.split(','))
  const count = (row: readonly string[], at: number | undefined): number => Number(row[at ?? -1]) || 0
  return new Map(rows.map((row) => [row[name] ?? '', count(row, retries) + count(row, redispatches)]))
}

/** The percentage of new requests of each version. */
export function divisionOf(servers: readonly Server[]): ReadonlyMap<string, number> {
  const enabled = servers.filter((server) => server.enabled)
  const total = enabled.reduce((sum, { weight }) => sum + weight, 0)
  return new Map(enabled.map(({ name, weight }) => [name, total === 0 ? 0 : (weight * 100) / total]))
}
