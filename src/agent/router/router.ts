/**
 * Keeps HAProxy in line with the route. Whatever it finds, be it a HAProxy that has just started or one that divides the
 * traffic already, it compares and orders the difference; so every restart, of either, heals.
 *
 * A route that cannot be put in effect, since it is no route or a version has no address yet, changes nothing: the one
 * before stays, and the reason is said.
 */
import type { RouterReport } from '../../api/router-report.ts'
import type { Addresses } from './addresses.ts'
import type { Order } from './haproxy-socket.ts'
import { parseRoute, type Route } from './route.ts'
import { divisionOf, parseServers, type Server, SHOW_SERVERS } from './servers.ts'
import { type Destination, ordersToward } from './steering.ts'
import type { TrafficCounters } from './traffic-counters.ts'

export interface RouterDeps {
  readonly order: Order
  readonly addresses: Addresses
  readonly counters: TrafficCounters
  /** Route files, the first that says something counts. */
  readonly readRoutes: () => Promise<readonly string[]>
  readonly startedAt: number
  readonly log: (message: string) => void
}

export class Router {
  readonly #deps: RouterDeps
  #servers: readonly Server[] = []
  #reachable = false
  #trouble = ''

  constructor(deps: RouterDeps) {
    this.#deps = deps
  }

  /** Requests that come in are answered by somebody: HAProxy is there and has a version with weight. */
  get isReady(): boolean {
    return this.isReachable && this.#servers.some(({ enabled, weight }) => enabled && weight > 0)
  }

  get isReachable(): boolean {
    return this.#reachable
  }

  /** Never throws; what went wrong is logged once, until it is something else. */
  async sync(): Promise<void> {
    try {
      await this.#sync()
      this.#say('')
    } catch (error) {
      this.#say(error instanceof Error ? error.message : String(error))
    }
  }

  report(): RouterReport {
    const division = divisionOf(this.#servers)
    return {
      startedAt: this.#deps.startedAt,
      versions: [...division].map(([version, weight]) => ({ version, weight, ...this.#deps.counters.of(version) })),
    }
  }

  async #sync(): Promise<void> {
    await this.#look()
    const route = await this.#route()
    if (!route) return
    const destinations = await this.#deps.addresses.resolve(route)
    const { divide, tidy } = ordersToward(destinations, this.#servers)
    for (const command of divide) await this.#deps.order(command)
    for (const command of tidy) await this.#deps.order(command)
    if (divide.length + tidy.length > 0) await this.#look()
    if (divide.length > 0) this.#told(destinations)
  }

  async #look(): Promise<void> {
    try {
      this.#servers = parseServers(await this.#deps.order(SHOW_SERVERS))
      this.#reachable = true
    } catch (error) {
      this.#servers = []
      this.#reachable = false
      throw error
    }
    this.#deps.counters.keepOnly(new Set(this.#servers.map(({ name }) => name)))
  }

  async #route(): Promise<Route | undefined> {
    for (const text of await this.#deps.readRoutes()) {
      const route = parseRoute(text)
      if (route) return route
    }
    return undefined
  }

  /** Orders are answered in words that differ between versions of HAProxy; what it shows afterwards decides. */
  #told(destinations: readonly Destination[]): void {
    const { divide } = ordersToward(destinations, this.#servers)
    if (divide.length > 0) throw new Error(`HAProxy did not carry out: ${divide.join('; ')}`)
    const division = destinations.map(({ version, weight }) => `${version} ${weight} %`).join(', ')
    this.#deps.log(`in effect: ${division}`)
  }

  #say(trouble: string): void {
    if (trouble !== '' && trouble !== this.#trouble) this.#deps.log(trouble)
    this.#trouble = trouble
  }
}
