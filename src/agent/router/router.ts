/**
 * Configures Envoy by the route: writes the files that Envoy follows, and compares what Envoy uses with what they say, so
 * it recovers from a restart of either.
 *
 * A route that is invalid, or has a version without an address, changes nothing: the previous one stays in effect, and the
 * reason is logged.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { RouterReport } from '../../api/router-report.ts'
import type { Addresses } from './addresses.ts'
import type { AskEnvoy } from './admin.ts'
import { type Effect, parseEffect, SHOW_CONFIG } from './effect.ts'
import { OpenRequests, parseOpen, SHOW_OPEN } from './open-requests.ts'
import { clustersOf, endpointsOf, type Resources, routesOf, type Target } from './resources.ts'
import { parseRoute, type Route } from './route.ts'
import { parseStatistics, SHOW_STATISTICS } from './statistics.ts'
import type { TrafficCounters } from './traffic-counters.ts'

export interface RouterDeps {
  readonly ask: AskEnvoy
  readonly addresses: Addresses
  readonly counters: TrafficCounters
  /** The contents of the route files. The first that is not empty counts. */
  readonly readRoutes: () => Promise<readonly string[]>
  /** Replaces a file that Envoy follows, unless it has this text already. */
  readonly write: (file: 'clusters' | 'routes' | 'endpoints', text: string) => Promise<void>
  readonly startedAt: number
  readonly now: () => number
  readonly log: (message: string) => void
}

/** How long Envoy may take to use a file that was replaced. */
const PATIENCE_MS = 2_000
const STEP_MS = 20

const NOWHERE: Target = { destinations: [], rules: {} }
const NOTHING: Effect = { weights: new Map() }

export class Router {
  readonly #deps: RouterDeps
  #effect: Effect = NOTHING
  /** The last one that was in effect. */
  #applied: Target = NOWHERE
  readonly #open = new OpenRequests()
  #reachable = false
  #problem = ''

  constructor(deps: RouterDeps) {
    this.#deps = deps
  }

  /** Envoy runs and has a version with weight, so that it can answer requests. */
  get isReady(): boolean {
    return this.isReachable && [...this.#effect.weights.values()].some((weight) => weight > 0)
  }

  get isReachable(): boolean {
    return this.#reachable
  }

  /** Never throws. Logs a problem once, until it changes. */
  async sync(): Promise<void> {
    try {
      await this.#observe()
      await this.#follow()
      await this.#count()
      this.#logProblem('')
    } catch (error) {
      this.#logProblem(error instanceof Error ? error.message : String(error))
    }
  }

  /** Writes the files before Envoy starts. Without a usable route, files without versions: Envoy needs files to start. */
  async prepare(): Promise<void> {
    const route = await this.#route().catch(() => undefined)
    const destinations = route ? await this.#deps.addresses.resolve(route).catch(() => []) : []
    const target = destinations.length > 0 && route ? { destinations, rules: route.rules } : NOWHERE
    await this.#deps.write('clusters', clustersOf(target).text)
    await this.#deps.write('routes', routesOf(target).text)
    await this.#deps.write('endpoints', endpointsOf(target.destinations).text)
  }

  report(): RouterReport {
    const { weights } = this.#effect
    // Versions without weight are no endpoints. They count once the weights of the same route are in effect.
    const known = this.#reachable ? this.#applied.destinations.map(({ version }) => version) : []
    const idle = known.filter((version) => !weights.has(version))
    const shown = [...weights, ...idle.map((version) => [version, 0] as const)]
    return {
      startedAt: this.#deps.startedAt,
      versions: shown.map(([version, weight]) => ({ version, weight, ...this.#countersOf(version) })),
    }
  }

  #countersOf(version: string) {
    const openMsSum = this.#open.of(version)
    return { ...this.#deps.counters.of(version), ...(openMsSum !== undefined && { openMsSum: Math.round(openMsSum) }) }
  }

  async #observe(): Promise<void> {
    try {
      this.#effect = parseEffect(await this.#deps.ask('GET', SHOW_CONFIG))
      this.#reachable = true
    } catch (error) {
      this.#effect = NOTHING
      this.#reachable = false
      throw error
    }
  }

  /** Clusters before the routes that name them, and those that no route names any more after that. */
  async #follow(): Promise<void> {
    const route = await this.#route()
    if (!route) return
    const target: Target = { destinations: await this.#deps.addresses.resolve(route), rules: route.rules }
    const routes = routesOf(target)
    const isChanged = !this.#isInEffect(target, routes)
    if (this.#effect.routes !== routes.version) await this.#addClusters(clustersOf(this.#applied, target))
    await this.#deps.write('endpoints', endpointsOf(target.destinations).text)
    await this.#deps.write('routes', routes.text)
    await this.#until(() => this.#isInEffect(target, routes), 'routes.json and endpoints.json')
    this.#applied = target
    await this.#deps.write('clusters', clustersOf(target).text)
    if (isChanged) this.#deps.log(`in effect: ${inWords(target)}`)
  }

  async #addClusters(clusters: Resources): Promise<void> {
    await this.#deps.write('clusters', clusters.text)
    await this.#until(() => this.#effect.clusters === clusters.version, 'clusters.json')
  }

  async #until(isDone: () => boolean, files: string): Promise<void> {
    for (let waited = 0; !isDone(); waited += STEP_MS) {
      if (waited >= PATIENCE_MS) throw new Error(`Envoy does not use ${files}`)
      await delay(STEP_MS)
      await this.#observe()
    }
  }

  #isInEffect({ destinations }: Target, routes: Resources): boolean {
    const { weights } = this.#effect
    const wanted = destinations.filter(({ weight }) => weight > 0)
    const isSplit =
      wanted.length === weights.size && wanted.every(({ version, weight }) => weights.get(version) === weight)
    return isSplit && this.#effect.routes === routes.version
  }

  async #count(): Promise<void> {
    const { ask, counters, now } = this.#deps
    counters.note(parseStatistics(await ask('GET', SHOW_STATISTICS)), now())
    this.#open.note(parseOpen(await ask('GET', SHOW_OPEN)), this.#applied.destinations, now())
  }

  async #route(): Promise<Route | undefined> {
    for (const text of await this.#deps.readRoutes()) {
      const route = parseRoute(text)
      if (route) return route
    }
    return undefined
  }

  #logProblem(problem: string): void {
    if (problem !== '' && problem !== this.#problem) this.#deps.log(problem)
    this.#problem = problem
  }
}

const inWords = ({ destinations }: Target): string =>
  destinations.map(({ version, weight }) => `${version} ${weight} %`).join(', ')
