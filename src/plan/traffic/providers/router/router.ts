/**
 * The built-in router: Envoy in a Deployment, for clusters without a mesh or a gateway. Its weights are exact, change
 * live, and it counts requests by version.
 *
 * The route is an annotation of each running pod, which its agent reads as a file within about a second. The Deployment's
 * template has none, so a new weight rolls nothing out. The ConfigMap has the route too: a pod that starts while the
 * operator is down begins with it.
 *
 * A kubelet that is busy with one change of a pod's annotations can miss the next, and then writes the file only at its next
 * periodic sync, after a minute or more. Another change triggers a sync: a router whose weights differ gets a new value of
 * `CALL_ANNOTATION` from time to time.
 */
import { PROXY_ROLE, ROUTE_ANNOTATION, type RouteDocument, type RouteEntry } from '../../../../api/router-report.ts'
import { ConfigMap, type Pod, PodDisruptionBudget } from '../../../../kube/resources.ts'
import { ROLE_LABEL } from '../../../model-names.ts'
import { modelObject } from '../../../model-object.ts'
import { isPodReady } from '../../../pod-ready.ts'
import type {
  AgentConfig,
  PodUserConfig,
  Proxy,
  Rendered,
  TrafficObserved,
  TrafficProvider,
  TrafficTarget,
} from '../../contract.ts'
import { isSameSplit, type Weights } from '../../weights.ts'
import { named } from '../route-object.ts'
import { weighted } from '../weighted.ts'
import { defaultRouterConfig, type RouterConfig } from './config.ts'
import { ENVOY_FILE, INITIAL_ROUTE_FILE, routerDeployment } from './deployment.ts'
import { envoyConfig } from './envoy-config.ts'
import { routerConfigName, routerName, routerPods } from './names.ts'

export const router = {
  ...weighted,
  name: 'router',
  kinds: [],
  defaults: { ...defaultRouterConfig },
  images: ({ routerImage = defaultRouterConfig.routerImage }: Partial<RouterConfig>) => [
    { image: routerImage, purpose: 'router of a model' },
  ],
  proxyName: routerName,
  pollMs: 15_000,
  rules: ['mirror', 'headers', 'cookies', 'stickiness'],
  suits: () => true,
  recognises: ({ selector }) => selector[ROLE_LABEL] === PROXY_ROLE,
  render,
  inEffect,
  isRunning: ({ target, observed }) => podsIn(target, observed).some(isPodReady),
} satisfies TrafficProvider

const CALL_ANNOTATION = 'modeldeployment.ml.example.com/route-call'
const CALL_MS = 5_000

type Target = TrafficTarget<RouterConfig & AgentConfig & PodUserConfig>

function render(target: Target, observed: TrafficObserved): Rendered {
  const route = JSON.stringify(documentOf(target))
  const config = envoyConfig()
  return {
    apply: [configMap(target, config, route), routerDeployment(target, config), disruptionBudget(target)],
    annotate: podsIn(target, observed).map((object) => ({
      object,
      annotations: { [ROUTE_ANNOTATION]: route, ...callOf(target, object, observed) },
    })),
    selector: routerPods(target),
  }
}

function proxyOf(target: TrafficTarget, { proxies }: TrafficObserved): Proxy | undefined {
  const name = routerName(named(target))
  return proxies.find(({ deployment }) => deployment.metadata.name === name)
}

const podsIn = (target: TrafficTarget, observed: TrafficObserved): readonly Pod[] =>
  proxyOf(target, observed)?.pods ?? []

function documentOf(target: TrafficTarget): RouteDocument {
  const { rules = {} } = target
  const versions = routeOf(target)
  return Object.keys(rules).length === 0 ? versions : { versions, ...rules }
}

/** Sorted by version: the same weights give the same text. */
function routeOf({ backends, port }: TrafficTarget): RouteEntry[] {
  return backends
    .map(({ version, service, weight }) => ({ version, address: `${service}:${port}`, weight }))
    .toSorted((one, other) => (one.version < other.version ? -1 : 1))
}

/** A new value from time to time, as long as the pod reports other weights. */
function callOf({ backends }: TrafficTarget, pod: Pod, observed: TrafficObserved): Readonly<Record<string, string>> {
  const { now, reports } = observed
  if (!reports.has(pod.metadata.uid ?? '')) return {}
  const wanted = new Map(backends.map(({ version, weight }) => [version, weight]))
  return isSame(wanted, reportedBy(pod, observed)) ? {} : { [CALL_ANNOTATION]: String(Math.floor(now / CALL_MS)) }
}

function configMap(target: TrafficTarget, config: string, route: string): ConfigMap {
  return {
    ...modelObject(target, ConfigMap, routerConfigName(named(target))),
    data: { [ENVOY_FILE]: config, [INITIAL_ROUTE_FILE]: route },
  }
}

function disruptionBudget(target: TrafficTarget): PodDisruptionBudget {
  return {
    ...modelObject(target, PodDisruptionBudget, routerName(named(target))),
    spec: { maxUnavailable: 1, selector: { matchLabels: routerPods(target) } },
  }
}

/**
 * What all routers report, if they report the same. A pod that is not ready and does not report gets no requests; one that
 * is ready and does not report may split them in any way.
 */
function inEffect(target: TrafficTarget, observed: TrafficObserved): Weights | undefined {
  const { deployment, pods = [] } = proxyOf(target, observed) ?? {}
  if (!deployment || deployment.metadata.deletionTimestamp !== undefined || !pods.some(isPodReady)) return undefined
  const carrying = pods.filter((pod) => isPodReady(pod) || reportedBy(pod, observed).size > 0)
  const [first, ...others] = carrying.map((pod) => reportedBy(pod, observed))
  return first && first.size > 0 && others.every((other) => isSame(first, other)) ? first : undefined
}

/** Empty if the pod did not report or has no route yet. */
function reportedBy({ metadata }: Pod, { reports }: TrafficObserved): Weights {
  const versions = reports.get(metadata.uid ?? '')?.versions ?? []
  return new Map(versions.map(({ version, weight }) => [version, weight]))
}

/** A router without a route is like no other. */
const isSame = (one: Weights, other: Weights): boolean => other.size > 0 && isSameSplit(one, other)
