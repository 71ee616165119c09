/**
 * Where versions are: HAProxy takes only IP addresses for what is added live, so names are looked up here. The address of
 * a Service stays for as long as it lives, so it is asked for again only now and then, beside the work: a DNS that hangs
 * holds up nothing that is known already.
 */
import { isIP } from 'node:net'
import type { Route } from './route.ts'
import { hostAndPort } from './route.ts'
import type { Destination } from './steering.ts'

const AGAIN_MS = 10_000

interface Known {
  readonly ip: string
  readonly askedAt: number
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

  /** The route with addresses. A version without traffic may be missing from it; any other fails if it cannot be found. */
  async resolve(route: Route): Promise<Destination[]> {
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
    if (!known) return this.#ask(host)
    const now = this.#deps.now()
    if (now - known.askedAt >= AGAIN_MS) {
      this.#known.set(host, { ...known, askedAt: now })
      void this.#ask(host).catch(() => undefined)
    }
    return known.ip
  }

  async #ask(host: string): Promise<string> {
    const askedAt = this.#deps.now()
    const ip = await this.#deps.lookup(host)
    this.#known.set(host, { ip, askedAt })
    return ip
  }
}
