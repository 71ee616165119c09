/**
 * The commands that bring HAProxy to the state of the route: none if it is already there. Pure.
 *
 * - HAProxy uses the percentages as weights. It accepts integers up to 256, so the ratio is exact.
 * - Weights are raised before others are lowered, so that there is always a server to send to.
 * - A version that is no longer in the route gets no new requests. It is deleted after its last request has ended; until
 *   then HAProxy rejects the deletion, which is repeated.
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

export interface Commands {
  /** Required for the route to be in effect. */
  readonly divide: readonly string[]
  /** Deletions, which HAProxy may reject for now. */
  readonly tidy: readonly string[]
}

export function commandsToward(route: readonly Destination[], servers: readonly Server[]): Commands {
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
      ...route.flatMap((destination) => ensureServer(destination, known.get(destination.version))),
      ...[...rising, ...falling].map(setWeight),
      ...leaving.filter(({ enabled }) => enabled).map(({ name }) => `disable server ${serverPath(name)}`),
    ],
    tidy: leaving.map(({ name }) => `del server ${serverPath(name)}`),
  }
}

/** Adds or enables the server with its address, and with its weight from the first request on. */
function ensureServer(destination: Destination, server: Server | undefined): string[] {
  const { version, ip, port, weight } = destination
  const enable = `enable server ${serverPath(version)}`
  const at = ip.includes(':') ? `[${ip}]` : ip
  if (!server) return [`add server ${serverPath(version)} ${at}:${port} weight ${weight}`, enable]
  const isThere = server.ip === ip && server.port === port
  return [
    ...(isThere ? [] : [`set server ${serverPath(version)} addr ${ip} port ${port}`]),
    ...(server.enabled ? [] : [setWeight(destination), enable]),
  ]
}

const setWeight = ({ version, weight }: Destination): string => `set server ${serverPath(version)} weight ${weight}`

const serverPath = (version: string): string => `${ROUTER_BACKEND}/${version}`
