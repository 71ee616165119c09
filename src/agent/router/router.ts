/**
 * Configures HAProxy by the route. It compares the state of HAProxy with the route and sends commands for the difference,
 * so it recovers from a restart of either.
 *
 * A route that is invalid, or has a version without an address, changes nothing: the previous one stays in effect, and the
 * reason is logged.
 */
import type { RouterReport } from '../../api/router-report.ts'
import type { Addresses } from './addresses.ts'
import type { RunCommand } from './haproxy-socket.ts'
import { parseRoute, type Route } from './route.ts'
import { divisionOf, parseRetries, parseServers, type Server, SHOW_SERVERS, SHOW_STATISTICS } from './servers.ts'
import { commandsToward, type Destination } from './steering.ts'
import type { TrafficCounters } from './traffic-counters.ts'

export interface RouterDeps {
  readonly run: RunCommand
  readonly addresses: Addresses
  readonly counters: TrafficCounters
  /** The contents of the route files. The first that is not empty counts. */
  readonly readRoutes: () => Promise<readonly string[]>
  readonly startedAt: number
  readonly log: (message: string) => void
}

export class Router {
  readonly #deps: RouterDeps
  #servers: readonly Server[] = []
  #reachable = false
  #problem = ''

  constructor(deps: RouterDeps) {
    this.#deps = deps
  }

  /** HAProxy runs and has a version with weight, so that it can answer requests. */
  get isReady(): boolean {
    return this.isReachable && this.#servers.some(({ enabled, weight }) => enabled && weight > 0)
  }

  get isReachable(): boolean {
    return this.#reachable
  }

  /** Never throws. Logs a problem once, until it changes. */
  async sync(): Promise<void> {
    try {
      await this.#sync()
      await this.#countRetries()
      this.#logProblem('')
    } catch (error) {
      this.#logProblem(error instanceof Error ? error.message : String(error))
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
    await this.#observe()
    const route = await this.#route()
    if (!route) return
    const destinations = await this.#deps.addresses.resolve(route)
    const { divide, tidy } = commandsToward(destinations, this.#servers)
    for (const command of divide) await this.#deps.run(command)
    for (const command of tidy) await this.#deps.run(command)
    if (divide.length + tidy.length > 0) await this.#observe()
    if (divide.length > 0) this.#verify(destinations)
  }

  async #observe(): Promise<void> {
    try {
      this.#servers = parseServers(await this.#deps.run(SHOW_SERVERS))
      this.#reachable = true
    } catch (error) {
      this.#servers = []
      this.#reachable = false
      throw error
    }
    this.#deps.counters.keepOnly(new Set(this.#servers.map(({ name }) => name)))
  }

  async #countRetries(): Promise<void> {
    const retries = parseRetries(await this.#deps.run(SHOW_STATISTICS))
    for (const { name } of this.#servers) this.#deps.counters.noteRetries(name, retries.get(name) ?? 0)
  }

  async #route(): Promise<Route | undefined> {
    for (const text of await this.#deps.readRoutes()) {
      const route = parseRoute(text)
      if (route) return route
    }
    return undefined
  }

  /** Checks the state after the commands, because their responses differ between versions of HAProxy. */
  #verify(destinations: readonly Destination[]): void {
    const { divide } = commandsToward(destinations, this.#servers)
    if (divide.length > 0) throw new Error(`HAProxy did not execute: ${divide.join('; ')}`)
    const division = destinations.map(({ version, weight }) => `${version} ${weight} %`).join(', ')
    this.#deps.log(`in effect: ${division}`)
  }

  #logProblem(problem: string): void {
    if (problem !== '' && problem !== this.#problem) this.#deps.log(problem)
    this.#problem = problem
  }
}
