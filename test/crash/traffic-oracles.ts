/** What must hold for whatever divides traffic: routers, VirtualServices, HTTPRoutes. */
import { type KubeObject, nameWithKind } from '../../src/kube/object.ts'
import { type Deployment, Pod, Service } from '../../src/kube/resources.ts'
import { routerName, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { DestinationRule, type HTTPRoute, VirtualService } from '../../src/plan/traffic/kinds.ts'
import { servingRoleOf } from '../model-deployment.ts'
import { inOrder } from './in-order.ts'
import { isHttpRoute, isServed, isVersion, labelOf, modelOf, routeIn, type Share } from './serving-objects.ts'
import { routersOf } from './serving-lab.ts'
import type { Oracle, Sighting, World } from './witness.ts'

export function trafficOracles(): Oracle[] {
  return [wholeRoutes, onlyReadyOnes(), trafficLeavesFirst(), subsetsStay(), waysLast()]
}

type See = NonNullable<Oracle['see']>

/** Called for every route that is written. */
function onRoute(judge: (route: readonly Share[], object: KubeObject, world: World) => string | undefined): See {
  return ({ type, object, previous }, world) => {
    const route = type === 'deleted' ? undefined : routeIn(object)
    const isOld = previous !== undefined && JSON.stringify(routeIn(previous)) === JSON.stringify(route)
    return route === undefined || isOld ? undefined : judge(route, object, world)
  }
}

/** S1: every route that was written sums to 100, each weight between 0 and 100. */
const wholeRoutes: Oracle = {
  name: 'S1',
  see: onRoute((route, object) => {
    const weights = route.map(({ weight }) => weight)
    const sum = weights.reduce((total, weight) => total + weight, 0)
    const isWrong = sum !== 100 || weights.some((weight) => !Number.isInteger(weight) || weight < 0 || weight > 100)
    return isWrong ? `${nameWithKind(object)} was given ${JSON.stringify(route)}` : undefined
  }),
}

/** S2: weight is only given to a version that has a ready pod and can be found by who divides. */
function onlyReadyOnes(): Oracle {
  const see = onRoute((route, object, world) => {
    const given = route.filter(({ weight }) => weight > 0).map(({ version }) => version)
    const unready = given.filter((version) => !isServed(version, world.list(Pod)))
    if (unready.length > 0) return `${nameWithKind(object)} leads to ${unready.join(', ')}, which is not ready`
    const known = findable(object, world)
    const unknown = given.filter((version) => !known.includes(version))
    return unknown.length > 0
      ? `${nameWithKind(object)} leads to ${unknown.join(', ')}, which it cannot find`
      : undefined
  })
  return inOrder({ name: 'S2', see })
}

/** Istio finds the pods of a version by a subset, all others by its Service. */
function findable({ kind }: KubeObject, world: World): string[] {
  if (kind === 'VirtualService') return world.list(DestinationRule).flatMap(subsetsOf)
  return world.list(Service).flatMap((service) => labelOf(service, VERSION_LABEL) ?? [])
}

const subsetsOf = ({ spec }: DestinationRule): string[] => (spec.subsets ?? []).map(({ name }) => name)

/** S4: a version goes only when nothing leads to it any more. */
function trafficLeavesFirst(): Oracle {
  /** Routers cannot be watched: who led to what went is asked in that moment. */
  const routers = new Map<KubeObject, readonly string[]>()
  /** What Gateways have taken up, by the uid of the route: until they take up the next, they send by this. */
  const taken = new Map<string, readonly Share[]>()
  const judged = inOrder({
    name: 'S4',
    see: (sighting, world) => {
      const { object } = sighting
      const { uid = '', generation = 0 } = object.metadata
      if (isHttpRoute(object) && takenUp(object) === generation) taken.set(uid, routeIn(object) ?? [])
      const gone = takenAway(sighting)
      if (gone === undefined || !modelOf(object, world)) return undefined
      const leading = world
        .all()
        .filter((route) => leads(writtenIn(route), gone) || leads(taken.get(route.metadata.uid ?? ''), gone))
      const names = [...leading.map(nameWithKind), ...(routers.get(object) ?? [])]
      return names.length > 0 ? `${nameWithKind(object)} went while ${names.join(', ')} led to it` : undefined
    },
  })
  return {
    ...judged,
    see: (sighting, world) => {
      const gone = takenAway(sighting)
      if (gone !== undefined) routers.set(sighting.object, routersTo(gone, world))
      return judged.see(sighting, world)
    },
  }
}

function leads(route: readonly Share[] | undefined, to: string): boolean {
  return route?.some(({ version, weight }) => weight > 0 && version === to) ?? false
}

/** Of routers counts what they do, not what they are told. */
function writtenIn(object: KubeObject): readonly Share[] | undefined {
  return object.kind === 'Pod' || object.metadata.deletionTimestamp !== undefined ? undefined : routeIn(object)
}

const takenUp = ({ status }: HTTPRoute): number | undefined => status?.parents?.[0]?.conditions?.[0]?.observedGeneration

/** The version that cannot be reached any more after this: its pods go, or its Service. */
function takenAway({ type, object, previous }: Sighting): string | undefined {
  const isGone = type === 'deleted' && (isVersion(object) || object.kind === 'Service')
  return isGone || isEmptied(object, previous) ? labelOf(object, VERSION_LABEL) : undefined
}

function isEmptied(object: KubeObject, previous: KubeObject | undefined): boolean {
  if (!isVersion(object) || !previous) return false
  return object.spec?.replicas === 0 && (previous as Deployment).spec?.replicas !== 0
}

function routersTo(version: string, world: World): string[] {
  return world
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

/** S4: Istio can tell a version apart as long as it leads to it. */
function subsetsStay(): Oracle {
  const see: See = ({ type, object, previous = object }, world) => {
    if (!isRule(object) || !isRule(previous) || !modelOf(object, world)) return undefined
    const left = type === 'deleted' ? [] : subsetsOf(object)
    const lost = subsetsOf(previous).filter((subset) => !left.includes(subset))
    const leading = world.list(VirtualService).filter((route) => lost.some((subset) => leads(routeIn(route), subset)))
    return leading.length > 0
      ? `${nameWithKind(object)} lost ${lost.join(', ')} while a VirtualService led to it`
      : undefined
  }
  return inOrder({ name: 'S4', see })
}

const isRule = (object: KubeObject): object is DestinationRule => object.kind === 'DestinationRule'

/** S4: what divides traffic goes only when the model is led by something else. */
function waysLast(): Oracle {
  const see: See = ({ type, object }, world) => {
    const model = type === 'deleted' ? modelOf(object, world) : undefined
    const provider = model?.status?.traffic?.provider
    const isLed = model !== undefined && provider !== undefined && wayOf(object, model) === provider
    return isLed ? `${nameWithKind(object)} went while ${provider} divides the traffic` : undefined
  }
  return inOrder({ name: 'S4', see })
}

function wayOf({ kind, metadata }: KubeObject, model: KubeObject): string | undefined {
  if (kind === 'HTTPRoute') return 'gateway'
  if (kind === 'VirtualService' || kind === 'DestinationRule') return 'istio'
  return kind === 'Deployment' && metadata.name === routerName(model) ? 'router' : undefined
}
