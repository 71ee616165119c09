/**
 * Resolves the addresses of versions, because endpoints of Envoy are IP addresses. The address
 * of a Service does not change, so known addresses are refreshed only at intervals and in the background: a DNS server
 * that hangs does not delay them.
 */
import { isIP } from 'node:net'
import type { Route } from './route.ts'
import { hostAndPort } from './route.ts'
import type { Destination } from './resources.ts'

const REFRESH_MS = 10_000

interface Known {
  readonly ip: string
  readonly lookedUpAt: number
}

export interface AddressesDeps {
  readonly lookup: (host: string) => Promise<string>
  readonly now: () => number
}

export class Addresses {
  readonly #deps: AddressesDeps
  #known = new Map<string, Known>()

  constructor(deps: AddressesDeps) {
    this.#deps = deps
  }

  /** Adds addresses to the route. Omits versions without traffic that cannot be resolved; fails for any other. */
  async resolve({ versions: route }: Pick<Route, 'versions'>): Promise<Destination[]> {
    const hosts = new Set(route.map(({ address }) => hostAndPort(address).host))
    this.#known = new Map([...this.#known].filter(([host]) => hosts.has(host)))
    const found = await Promise.all(
      route.map(async ({ version, address, weight }) => {
        const { host, port } = hostAndPort(address)
        try {
          return { version, ip: await this.#ip(host), port, weight }
        } catch (error) {
          if (weight > 0) throw new Error(`${version}: ${host} has no address yet: ${String(error)}`, { cause: error })
          return undefined
        }
      }),
    )
    return found.filter((destination) => destination !== undefined)
  }

  async #ip(host: string): Promise<string> {
    if (isIP(host)) return host
    const known = this.#known.get(host)
    if (!known) return this.#lookUp(host)
    const now = this.#deps.now()
    if (now - known.lookedUpAt >= REFRESH_MS) {
      this.#known.set(host, { ...known, lookedUpAt: now })
      void this.#lookUp(host).catch(() => undefined)
    }
    return known.ip
  }

  async #lookUp(host: string): Promise<string> {
    const lookedUpAt = this.#deps.now()
    const ip = await this.#deps.lookup(host)
    this.#known.set(host, { ip, lookedUpAt })
    return ip
  }
}
