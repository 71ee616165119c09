/** Oracles for everything that splits traffic: routers, VirtualServices, HTTPRoutes. */
import { type KubeObject, nameWithKind } from '../../../src/kube/object.ts'
import { type Deployment, Pod, Service } from '../../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../../src/plan/model-names.ts'
import type { HTTPRoute } from '../../../src/plan/traffic/providers/gateway/kinds.ts'
import { DestinationRule, VirtualService } from '../../../src/plan/traffic/providers/istio/kinds.ts'
import { routerName } from '../../../src/plan/traffic/providers/router/names.ts'
import { servingRoleOf } from '../../builders/model-deployment.ts'
import { inStoreOrder } from './store-order.ts'
import {
  isHttpRoute,
  isRecreated,
  isServed,
  isVersion,
  labelOf,
  modelOf,
  routeIn,
  type Share,
} from './serving-objects.ts'
import { routersOf } from '../harness/serving-harness.ts'
import type { Oracle, ObservedChange, ClusterView } from './oracle.ts'

export function trafficOracles(): Oracle[] {
  return [completeRoutes, onlyReadyVersions(), drainedVersions(), usedSubsets(), usedProviders()]
}

type OnChange = NonNullable<Oracle['onChange']>

/** Called for every route that is written. */
function onRoute(
  judge: (route: readonly Share[], object: KubeObject, cluster: ClusterView) => string | undefined,
): OnChange {
  return ({ type, object, previous }, cluster) => {
    const route = type === 'deleted' ? undefined : routeIn(object)
    const isOld = previous !== undefined && JSON.stringify(routeIn(previous)) === JSON.stringify(route)
    return route === undefined || isOld ? undefined : judge(route, object, cluster)
  }
}

/** S1: the weights of every written route are between 0 and 100 and sum to 100. */
const completeRoutes: Oracle = {
  name: 'S1',
  onChange: onRoute((route, object) => {
    const weights = route.map(({ weight }) => weight)
    const sum = weights.reduce((total, weight) => total + weight, 0)
    const isInvalid = sum !== 100 || weights.some((weight) => !Number.isInteger(weight) || weight < 0 || weight > 100)
    return isInvalid ? `${nameWithKind(object)} has the route ${JSON.stringify(route)}` : undefined
  }),
}

/** S2: a version gets weight only if it has a ready pod and the provider can find its pods. */
function onlyReadyVersions(): Oracle {
  const onChange = onRoute((route, object, cluster) => {
    const given = route.filter(({ weight }) => weight > 0).map(({ version }) => version)
    const unready = given.filter((version) => !isServed(version, cluster.list(Pod)))
    if (unready.length > 0) return `${nameWithKind(object)} routes to ${unready.join(', ')}, which is not ready`
    const known = findable(object, cluster)
    const unknown = given.filter((version) => !known.includes(version))
    return unknown.length > 0
      ? `${nameWithKind(object)} routes to ${unknown.join(', ')}, which it cannot find`
      : undefined
  })
  return inStoreOrder({ name: 'S2', onChange })
}

/** Istio finds the pods of a version by a subset, the other providers by its Service. */
function findable({ kind }: KubeObject, cluster: ClusterView): string[] {
  if (kind === 'VirtualService') return cluster.list(DestinationRule).flatMap(subsetsOf)
  return cluster.list(Service).flatMap((service) => labelOf(service, VERSION_LABEL) ?? [])
}

const subsetsOf = ({ spec }: DestinationRule): string[] => (spec.subsets ?? []).map(({ name }) => name)

/** S4: a version is removed only when no route leads to it. */
function drainedVersions(): Oracle {
  /** Routers cannot be watched, so their routes are read at the moment of the removal. */
  const routers = new Map<KubeObject, readonly string[]>()
  /** The routes in effect in Gateways, by uid: a Gateway uses them until it accepts the next generation. */
  const accepted = new Map<string, readonly Share[]>()
  const judged = inStoreOrder({
    name: 'S4',
    onChange: (change, cluster) => {
      const { object } = change
      const { uid = '', generation = 0 } = object.metadata
      if (isHttpRoute(object) && acceptedGeneration(object) === generation) accepted.set(uid, routeIn(object) ?? [])
      const removed = removedVersion(change)
      const model = removed === undefined ? undefined : modelOf(object, cluster)
      if (removed === undefined || !model || isRecreated(model)) return undefined
      const leading = cluster
        .all()
        .filter(
          (route) =>
            leadsTo(specifiedRoute(route), removed) || leadsTo(accepted.get(route.metadata.uid ?? ''), removed),
        )
      const names = [...leading.map(nameWithKind), ...(routers.get(object) ?? [])]
      return names.length > 0 ? `${nameWithKind(object)} was removed while ${names.join(', ')} routed to it` : undefined
    },
  })
  return {
    ...judged,
    onChange: (change, cluster) => {
      const removed = removedVersion(change)
      if (removed !== undefined) routers.set(change.object, routersTo(removed, cluster))
      return judged.onChange(change, cluster)
    },
  }
}

function leadsTo(route: readonly Share[] | undefined, to: string): boolean {
  return route?.some(({ version, weight }) => weight > 0 && version === to) ?? false
}

/** For routers, only the route in effect counts, not the annotation. */
function specifiedRoute(object: KubeObject): readonly Share[] | undefined {
  return object.kind === 'Pod' || object.metadata.deletionTimestamp !== undefined ? undefined : routeIn(object)
}

const acceptedGeneration = ({ status }: HTTPRoute): number | undefined =>
  status?.parents?.[0]?.conditions?.[0]?.observedGeneration

/** The version that becomes unreachable by this change: its pods or its Service are removed. */
function removedVersion({ type, object, previous }: ObservedChange): string | undefined {
  const isDeleted = type === 'deleted' && (isVersion(object) || object.kind === 'Service')
  return isDeleted || isScaledToZero(object, previous) ? labelOf(object, VERSION_LABEL) : undefined
}

function isScaledToZero(object: KubeObject, previous: KubeObject | undefined): boolean {
  if (!isVersion(object) || !previous) return false
  return object.spec?.replicas === 0 && (previous as Deployment).spec?.replicas !== 0
}

function routersTo(version: string, cluster: ClusterView): string[] {
  return cluster
    .list(Pod)
    .filter((pod) => servingRoleOf(pod) === 'router' && pod.metadata.deletionTimestamp === undefined)
    .filter(
      (pod) =>
        (routersOf(pod.metadata.namespace ?? '')
          .routeOf(pod)
          .get(version) ?? 0) > 0,
    )
    .map(nameWithKind)
}

/** S4: a subset stays as long as a VirtualService routes to it. */
function usedSubsets(): Oracle {
  const onChange: OnChange = ({ type, object, previous = object }, cluster) => {
    if (!isRule(object) || !isRule(previous) || !modelOf(object, cluster)) return undefined
    const left = type === 'deleted' ? [] : subsetsOf(object)
    const lost = subsetsOf(previous).filter((subset) => !left.includes(subset))
    const leading = cluster
      .list(VirtualService)
      .filter((route) => lost.some((subset) => leadsTo(routeIn(route), subset)))
    return leading.length > 0
      ? `${nameWithKind(object)} lost ${lost.join(', ')} while a VirtualService routed to it`
      : undefined
  }
  return inStoreOrder({ name: 'S4', onChange })
}

const isRule = (object: KubeObject): object is DestinationRule => object.kind === 'DestinationRule'

/** S4: the objects of a provider are deleted only when another provider is in effect. */
function usedProviders(): Oracle {
  const onChange: OnChange = ({ type, object }, cluster) => {
    const model = type === 'deleted' ? modelOf(object, cluster) : undefined
    const provider = model?.status?.traffic?.provider
    const isUsed = model !== undefined && provider !== undefined && providerOf(object, model) === provider
    return isUsed ? `${nameWithKind(object)} was deleted while ${provider} is in effect` : undefined
  }
  return inStoreOrder({ name: 'S4', onChange })
}

function providerOf({ kind, metadata }: KubeObject, model: KubeObject): string | undefined {
  if (kind === 'HTTPRoute') return 'gateway'
  if (kind === 'VirtualService' || kind === 'DestinationRule') return 'istio'
  return kind === 'Deployment' && metadata.name === routerName(model) ? 'router' : undefined
}
