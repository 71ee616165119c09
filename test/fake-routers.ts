/**
 * Routers that route nothing: each takes the route that its pod is annotated with, a moment late, and reports it. What
 * has gone through them is what the test says.
 */
import { ROUTE_ANNOTATION, type RouteEntry, type RouterReport, type VersionCounters } from '../src/api/router-report.ts'
import type { Pod } from '../src/kube/resources.ts'
import type { ReadRouterReports } from '../src/integrations/router-reports.ts'
import { type Fate } from './kubelet.ts'
import { servingRoleOf } from './model-deployment.ts'
import { unready } from './pod-status.ts'

export type Counted = Partial<Omit<VersionCounters, 'version' | 'weight'>>

export class FakeRouters {
  readonly #routes = new Map<string, readonly RouteEntry[]>()
  readonly #counted = new Map<string, Counted>()
  /** While set, nobody takes a new route. */
  isDeaf = false
  /** While set, nobody answers. */
  isSilent = false

  /** What every router says to have seen of a version. */
  count(version: string, counted: Counted): void {
    this.#counted.set(version, counted)
  }

  /** The route a pod has now, by version. */
  routeOf(pod: Pod): ReadonlyMap<string, number> {
    return new Map((this.#routes.get(pod.metadata.uid ?? '') ?? []).map(({ version, weight }) => [version, weight]))
  }

  /** What a router takes on becomes visible with the next look, not with the one that told it. */
  readonly read: ReadRouterReports = (pods) => {
    const reports = pods.flatMap((pod) => {
      const report = this.#report(pod)
      if (!this.isDeaf) this.#take(pod)
      return this.isSilent || report === undefined ? [] : [[pod.metadata.uid ?? '', report] as const]
    })
    return Promise.resolve(new Map(reports))
  }

  #take({ metadata }: Pod): void {
    const annotation = metadata.annotations?.[ROUTE_ANNOTATION]
    if (annotation !== undefined) this.#routes.set(metadata.uid ?? '', JSON.parse(annotation) as RouteEntry[])
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

/** A router is ready when it has a route; everything else goes on as it is. */
export function routerFate(pod: Pod): Fate {
  const isLost = servingRoleOf(pod) === 'router' && pod.metadata.annotations?.[ROUTE_ANNOTATION] === undefined
  return isLost ? unready(pod) : undefined
}

/** Servers run, routers are ready once they have a route, and validations end so. */
export function servingFate(exitCode = 0): (pod: Pod) => Fate {
  return (pod) => (servingRoleOf(pod) === 'validation' ? { exitCode } : routerFate(pod))
}
