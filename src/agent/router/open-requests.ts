/** Requests in progress by version: Envoy lists them by the address of an endpoint. */
import type { Destination } from './resources.ts'

export const SHOW_OPEN = '/clusters?format=json'

/** More than a route can have: a response with more is not used. */
const MAX_HOSTS = 1_000

/** The parts of the response that are read. Anything may be missing. */
interface Clusters {
  readonly cluster_statuses?: readonly { readonly host_statuses?: readonly Host[] }[]
}

interface Host {
  readonly address?: { readonly socket_address?: { readonly address?: string; readonly port_value?: number } }
  readonly stats?: readonly { readonly name?: string; readonly value?: unknown }[]
}

/** Requests in progress, by `ip:port`. Fails for a response that is no such list. */
export function parseOpen(response: string): ReadonlyMap<string, number> {
  const { cluster_statuses } = (JSON.parse(response) ?? {}) as Clusters
  if (!Array.isArray(cluster_statuses)) throw new Error('Envoy lists no clusters')
  const hosts = (cluster_statuses as NonNullable<Clusters['cluster_statuses']>).flatMap(
    ({ host_statuses }) => host_statuses ?? [],
  )
  if (hosts.length > MAX_HOSTS) throw new Error(`Envoy lists ${hosts.length} endpoints: too many`)
  const open = new Map<string, number>()
  for (const host of hosts) {
    const count = openOf(host)
    if (count > 0) open.set(addressOf(host), (open.get(addressOf(host)) ?? 0) + count)
  }
  return open
}

/** Gauges are strings in JSON: they have 64 bits. */
function openOf({ stats = [] }: Host): number {
  const count = Number(stats.find(({ name }) => name === 'rq_active')?.value)
  return Number.isFinite(count) ? count : 0
}

function addressOf({ address }: Host): string {
  const { address: ip = '', port_value: port = 0 } = address?.socket_address ?? {}
  return `${ip}:${port}`
}

/** Sums requests in progress over time, so that readers at any interval get the average of their interval. */
export class OpenRequests {
  readonly #sums = new Map<string, number>()
  #notedAt: number | undefined

  note(open: ReadonlyMap<string, number>, destinations: readonly Destination[], now: number): void {
    const elapsed = Math.max(0, now - (this.#notedAt ?? now))
    this.#notedAt = now
    for (const { version, ip, port } of destinations) {
      const count = open.get(`${ip}:${port}`) ?? 0
      this.#sums.set(version, (this.#sums.get(version) ?? 0) + count * elapsed)
    }
  }

  /** In milliseconds. Undefined before the first note. */
  of(version: string): number | undefined {
    return this.#sums.get(version)
  }
}
