/** The versions that HAProxy knows: the servers of the router's backend, as it tells them. */
import { ROUTER_BACKEND, ROUTER_NOBODY } from '../../api/router-wire.ts'

export interface Server {
  readonly name: string
  readonly ip: string
  readonly port: number
  /** From 0 to 256, as set; whether it counts says `enabled`. */
  readonly weight: number
  /** False while in maintenance: no new request goes there. */
  readonly enabled: boolean
}

export const SHOW_SERVERS = `show servers state ${ROUTER_BACKEND}`

/** Of a table that names its columns, so that HAProxy may add some. */
export function parseServers(answer: string): Server[] {
  const lines = answer.split('\n').filter((line) => line.trim() !== '')
  const header = lines.find((line) => line.startsWith('# '))
  if (header === undefined) throw new Error(`HAProxy shows no servers of ${ROUTER_BACKEND}: ${answer.slice(0, 100)}`)
  const columns = header.slice(2).split(' ')
  const rows = lines.slice(lines.indexOf(header) + 1).map((line) => {
    const values = line.split(' ')
    return new Map(columns.map((column, index) => [column, values[index] ?? '']))
  })
  const servers = rows.map((row) => ({
    name: row.get('srv_name') ?? '',
    ip: row.get('srv_addr') ?? '',
    port: Number(row.get('srv_port')),
    weight: Number(row.get('srv_uweight')),
    enabled: row.get('srv_admin_state') === '0',
  }))
  return servers.filter(({ name }) => name !== ROUTER_NOBODY)
}

/** The percent of new requests that each version gets. */
export function divisionOf(servers: readonly Server[]): ReadonlyMap<string, number> {
  const enabled = servers.filter((server) => server.enabled)
  const total = enabled.reduce((sum, { weight }) => sum + weight, 0)
  return new Map(enabled.map(({ name, weight }) => [name, total === 0 ? 0 : (weight * 100) / total]))
}
