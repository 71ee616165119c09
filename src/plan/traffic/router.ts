/**
 * The router that we bring ourselves: HAProxy in a Deployment, for clusters without a mesh or a gateway. Its weights are
 * exact, change live, and what goes through is counted by version.
 *
 * The route is an annotation of each running pod, which its agent reads as a file within about a second. The Deployment's
 * template has none, so a new weight rolls nothing out. The ConfigMap has the route too: a pod that starts while the
 * operator is away begins with that.
 *
 * A kubelet that is busy with one change of a pod's annotations can miss the next, and writes the file only when it looks at
 * the pod again anyway, after a minute or more. Another change makes it look: a router that does not divide as it is told is
 * called from time to time.
 */
import { ROUTE_ANNOTATION, type RouteEntry } from '../../api/router-report.ts'
import { ConfigMap, type Pod, PodDisruptionBudget } from '../../kube/resources.ts'
import { routerName } from '../model-names.ts'
import type { Rendered, TrafficObserved, TrafficProvider, TrafficTarget } from './contract.ts'
import { haproxyConfig, ROUTER_PORT } from './haproxy-config.ts'
import { named, podsOf, rendering } from './route-object.ts'
import { HAPROXY_FILE, INITIAL_ROUTE_FILE, routerDeployment } from './router-deployment.ts'

export const routerProvider: TrafficProvider = { name: 'router', render, inEffect }

const CALL_ANNOTATION = 'modeldeployment.ml.example.com/route-call'
const CALL_MS = 5_000

function render(target: TrafficTarget, observed: TrafficObserved): Rendered {
  const route = JSON.stringify(routeOf(target))
  const config = haproxyConfig()
  return {
    apply: [configMap(target, config, route), routerDeployment(target, config), disruptionBudget(target)],
    annotate: observed.routerPods.map((object) => ({
      object,
      annotations: { [ROUTE_ANNOTATION]: route, ...callOf(target, object, observed) },
    })),
    selector: podsOf(target, 'router'),
    targetPort: ROUTER_PORT,
  }
}

/** In the order of the names: the same weights are the same text. */
function routeOf({ backends, port }: TrafficTarget): RouteEntry[] {
  return backends
    .map(({ version, service, weight }) => ({ version, address: `${service}:${port}`, weight }))
    .toSorted((one, other) => (one.version < other.version ? -1 : 1))
}

/** Another one after some time, as long as the pod says that it divides in another way. */
function callOf({ backends }: TrafficTarget, pod: Pod, observed: TrafficObserved): Readonly<Record<string, string>> {
  const { now, reports } = observed
  if (now === undefined || !reports.has(pod.metadata.uid ?? '')) return {}
  const wanted = new Map(backends.map(({ version, weight }) => [version, weight]))
  return isSame(wanted, divisionOf(pod, observed)) ? {} : { [CALL_ANNOTATION]: String(Math.floor(now / CALL_MS)) }
}

function configMap(target: TrafficTarget, config: string, route: string): ConfigMap {
  return {
    ...rendering(target, ConfigMap, routerName(named(target))),
    data: { [HAPROXY_FILE]: config, [INITIAL_ROUTE_FILE]: route },
  }
}

function disruptionBudget(target: TrafficTarget): PodDisruptionBudget {
  return {
    ...rendering(target, PodDisruptionBudget, routerName(named(target))),
    spec: { maxUnavailable: 1, selector: { matchLabels: podsOf(target, 'router') } },
  }
}

/**
 * What all routers say, if they say the same. A pod that is not ready and says nothing gets no requests; one that is
 * ready and says nothing may divide them in any way.
 */
function inEffect(_: TrafficTarget, observed: TrafficObserved): ReadonlyMap<string, number> | undefined {
  const { router, routerPods } = observed
  if (!router || router.metadata.deletionTimestamp !== undefined || !routerPods.some(isReady)) return undefined
  const carrying = routerPods.filter((pod) => isReady(pod) || divisionOf(pod, observed).size > 0)
  const [first, ...others] = carrying.map((pod) => divisionOf(pod, observed))
  return first && first.size > 0 && others.every((other) => isSame(first, other)) ? first : undefined
}

/** By version, in percent; empty if the pod said nothing or has no route yet. */
function divisionOf({ metadata }: Pod, { reports }: TrafficObserved): ReadonlyMap<string, number> {
  const versions = reports.get(metadata.uid ?? '')?.versions ?? []
  return new Map(versions.map(({ version, weight }) => [version, weight]))
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
}

/** Who gets nothing and who is not there are the same; but one that has no route at all is like no other. */
function isSame(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  if (other.size === 0) return false
  const versions = new Set([...one.keys(), ...other.keys()])
  return [...versions].every((version) => (one.get(version) ?? 0) === (other.get(version) ?? 0))
}
