/**
 * The orders that bring HAProxy from what it does to what the route says: none if it already does. Pure.
 *
 * - Percent are HAProxy's weights as they are: it takes whole numbers up to 256, so the ratio is exact.
 * - Weights rise before others fall: at no moment is there nobody to send to.
 * - A version that has left the route gets no new request at once, and goes when its last one has ended. HAProxy refuses
 *   that until then, and is asked again.
 */
import { ROUTER_BACKEND } from '../../api/router-wire.ts'
import type { Server } from './servers.ts'

/** A version whose address is known. */
export interface Destination {
  readonly version: string
  readonly ip: string
  readonly port: number
  readonly weight: number
}

export interface Orders {
  /** Until these are carried out, traffic is not divided by the route. */
  readonly divide: readonly string[]
  /** What may be refused for now. */
  readonly tidy: readonly string[]
}

export function ordersToward(route: readonly Destination[], servers: readonly Server[]): Orders {
  const known = new Map(servers.map((server) => [server.name, server]))
  const weightNow = ({ version }: Destination): number | undefined => {
    const server = known.get(version)
    return server?.enabled ? server.weight : undefined
  }
  const inUse = route.filter((destination) => weightNow(destination) !== undefined)
  const rising = inUse.filter((destination) => destination.weight > (weightNow(destination) ?? 0))
  const falling = inUse.filter((destination) => destination.weight < (weightNow(destination) ?? 0))
  const wanted = new Set(route.map(({ version }) => version))
  const leaving = servers.filter(({ name }) => !wanted.has(name))
  return {
    divide: [
      ...route.flatMap((destination) => presence(destination, known.get(destination.version))),
      ...[...rising, ...falling].map(weigh),
      ...leaving.filter(({ enabled }) => enabled).map(({ name }) => `disable server ${path(name)}`),
    ],
    tidy: leaving.map(({ name }) => `del server ${path(name)}`),
  }
}

/** There, at the right address, and in use, with its weight from the first request on. */
function presence(destination: Destination, server: Server | undefined): string[] {
  const { version, ip, port, weight } = destination
  const enable = `enable server ${path(version)}`
  const at = ip.includes(':') ? `[${ip}]` : ip
  if (!server) return [`add server ${path(version)} ${at}:${port} weight ${weight}`, enable]
  const isThere = server.ip === ip && server.port === port
  return [
    ...(isThere ? [] : [`set server ${path(version)} addr ${ip} port ${port}`]),
    ...(server.enabled ? [] : [weigh(destination), enable]),
  ]
}

const weigh = ({ version, weight }: Destination): string => `set server ${path(version)} weight ${weight}`

const path = (version: string): string => `${ROUTER_BACKEND}/${version}`
