/**
 * Fake routers: each applies the route of its pod's annotation with a delay of one read, and reports it. The counters of
 * requests are set by the test.
 */
import {
  entriesOf,
  ROUTE_ANNOTATION,
  type RouteEntry,
  type RouterReport,
  type VersionCounters,
} from '../../src/api/router-report.ts'
import type { Pod } from '../../src/kube/resources.ts'
import type { ReadTrafficReports } from '../../src/integrations/router-reports.ts'
import { type PodOutcome } from './kubelet.ts'
import { servingRoleOf } from '../builders/model-deployment.ts'
import { unready } from './pod-status.ts'

export type Counted = Partial<Omit<VersionCounters, 'version' | 'weight'>>

export class FakeRouters {
  readonly #routes = new Map<string, readonly RouteEntry[]>()
  readonly #counted = new Map<string, Counted>()
  /** While set, routers keep their old routes. */
  ignoresRoutes = false
  /** While set, no router responds. */
  isUnreachable = false

  /** Sets the counters that every router reports for a version. */
  setCounters(version: string, counted: Counted): void {
    this.#counted.set(version, counted)
  }

  /** The route in effect in a pod, by version. */
  routeOf(pod: Pod): ReadonlyMap<string, number> {
    return new Map((this.#routes.get(pod.metadata.uid ?? '') ?? []).map(({ version, weight }) => [version, weight]))
  }

  /** A new route is reported by the next read, not by the one that applies it. */
  readonly read: ReadTrafficReports = (pods) => {
    const reports = pods.flatMap((pod) => {
      const report = this.#report(pod)
      if (!this.ignoresRoutes) this.#applyRoute(pod)
      return this.isUnreachable || report === undefined ? [] : [[pod.metadata.uid ?? '', report] as const]
    })
    return Promise.resolve(new Map(reports))
  }

  #applyRoute({ metadata }: Pod): void {
    const annotation = metadata.annotations?.[ROUTE_ANNOTATION]
    if (annotation !== undefined) this.#routes.set(metadata.uid ?? '', entriesOf(annotation))
  }

  #report({ metadata }: Pod): RouterReport | undefined {
    const route = this.#routes.get(metadata.uid ?? '')
    const counters = (entry: RouteEntry): VersionCounters => ({
      version: entry.version,
      weight: entry.weight,
      requests: 0,
      errors: 0,
      latencyMsSum: 0,
      ...this.#counted.get(entry.version),
    })
    return route && { startedAt: 0, versions: route.map(counters) }
  }
}

/** A router is unready until it has a route. Other pods run. */
export function routerOutcome(pod: Pod): PodOutcome {
  const hasNoRoute = servingRoleOf(pod) === 'router' && pod.metadata.annotations?.[ROUTE_ANNOTATION] === undefined
  return hasNoRoute ? unready(pod) : undefined
}

const JUDGES: readonly (string | undefined)[] = ['validation', 'analysis']

/** Servers run, routers are ready once they have a route, and validations and analyses end with this exit code. */
export function servingOutcome(exitCode = 0): (pod: Pod) => PodOutcome {
  return (pod) => (JUDGES.includes(servingRoleOf(pod)) ? { exitCode } : routerOutcome(pod))
}
