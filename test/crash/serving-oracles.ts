/** What must hold for a model and everything below it at every moment, whoever died when. */
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { ROUTE_ANNOTATION, type RouteEntry } from '../../src/api/router-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { isOlder } from '../../src/kube/resource-version.ts'
import { Deployment, Pod } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { servingRoleOf, versionOf } from '../model-deployment.ts'
import { routersOf } from './serving-lab.ts'
import type { Oracle, Sighting, World } from './witness.ts'

const isPod = (object: KubeObject): object is Pod => object.kind === 'Pod'
const isDeployment = (object: KubeObject): object is Deployment => object.kind === 'Deployment'
const isModel = (object: KubeObject): object is ModelDeployment => object.kind === 'ModelDeployment'
const isOurs = ({ metadata }: KubeObject): boolean => metadata.labels?.[MODEL_UID_LABEL] !== undefined

export function servingOracles(): Oracle[] {
  return [wholeRoutes, onlyReadyOnes, trafficLeavesFirst, lastOneStays(), owned, generations, honest]
}

/** S1: every route that was written sums to 100, each weight between 0 and 100. */
const wholeRoutes: Oracle = {
  name: 'S1',
  see: onRoute((route, pod) => {
    const weights = route.map(({ weight }) => weight)
    const sum = weights.reduce((total, weight) => total + weight, 0)
    const isWrong = sum !== 100 || weights.some((weight) => !Number.isInteger(weight) || weight < 0 || weight > 100)
    return isWrong ? `${pod.metadata.name} was given ${JSON.stringify(route)}` : undefined
  }),
}

/** S2: weight is only given to a version that has a ready pod. Pods and routes come in one order, being one kind. */
const onlyReadyOnes: Oracle = {
  name: 'S2',
  see: onRoute((route, pod, world) => {
    const given = route.filter(({ weight }) => weight > 0).map(({ version }) => version)
    const unready = given.filter(
      (version) => !world.list(Pod).some((other) => serves(other, version) && isReady(other)),
    )
    return unready.length > 0 ? `${pod.metadata.name} leads to ${unready.join(', ')}, which is not ready` : undefined
  }),
}

/** S4: a version goes only when no router leads to it any more. */
const trafficLeavesFirst: Oracle = {
  name: 'S4',
  see: ({ type, object }, world) => {
    if (type !== 'deleted' || !isVersion(object) || !world.all().some(isModel)) return undefined
    const version = object.metadata.labels?.[VERSION_LABEL] ?? ''
    const routers = routersOf(object.metadata.namespace ?? '')
    const leading = world
      .list(Pod)
      .filter((pod) => servingRoleOf(pod) === 'router' && pod.metadata.deletionTimestamp === undefined)
      .filter((pod) => (routers.routeOf(pod).get(version) ?? 0) > 0)
    return leading.length > 0 ? `${object.metadata.name} went while ${leading.length} routers lead to it` : undefined
  },
}

/** S5: the last version that is ready stays, as long as the model does. Versions tell which of the two went first. */
function lastOneStays(): Oracle {
  const lost: { readonly name: string; readonly owner: string; readonly version: string }[] = []
  const models = new Map<string, string>()
  return {
    name: 'S5',
    see: ({ type, object }, world) => {
      const { uid = '', name, resourceVersion = '0', labels } = object.metadata
      if (type === 'deleted' && isModel(object)) models.set(uid, resourceVersion)
      if (type !== 'deleted' || !isVersion(object)) return undefined
      const isAvailable = (other: Deployment): boolean => isVersion(other) && (other.status?.availableReplicas ?? 0) > 0
      if (!world.list(Deployment).some(isAvailable))
        lost.push({ name, owner: labels?.[MODEL_UID_LABEL] ?? '', version: resourceVersion })
      return undefined
    },
    atRest: () =>
      lost
        .filter(({ owner, version }) => isOlder(version, models.get(owner) ?? '99999999999999'))
        .map(({ name }) => `${name} was removed and no other version was ready`),
  }
}

/** G2: everything we make is controlled. */
const owned: Oracle = {
  name: 'G2',
  see: ({ type, object }) => {
    if (type !== 'created' || !isOurs(object)) return undefined
    const isControlled = object.metadata.ownerReferences?.some(({ controller }) => controller)
    return isControlled ? undefined : `${object.kind}/${object.metadata.name} has no controller`
  },
}

/** G3: the generation that a status speaks of exists, and never goes back. */
const generations: Oracle = {
  name: 'G3',
  see: ({ type, object, previous }: Sighting) => {
    if (type === 'deleted' || !isModel(object)) return undefined
    const observed = object.status?.observedGeneration ?? 0
    if (observed > (object.metadata.generation ?? 0)) return `observed ${observed} of ${object.metadata.generation}`
    const before = (previous as ModelDeployment | undefined)?.status?.observedGeneration ?? 0
    return observed < before ? 'the observed generation went back' : undefined
  },
}

/** G3: weights of a status sum to 100 or nothing; at rest, a model that is Ready has ready pods wherever it sends traffic. */
const honest: Oracle = {
  name: 'G3',
  see: ({ type, object }) => {
    if (type === 'deleted' || !isModel(object)) return undefined
    const sum = (object.status?.activeVersions ?? []).reduce((total, { weight = 0 }) => total + weight, 0)
    return sum === 0 || sum === 100 ? undefined : `the weights of the status sum to ${sum}`
  },
  atRest: (world) =>
    world
      .all()
      .filter(isModel)
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .flatMap(({ metadata, status }) => (status?.activeVersions ?? []).map((version) => ({ metadata, version })))
      .filter(({ version }) => (version.weight ?? 0) > 0)
      .filter(({ version }) => !world.list(Pod).some((pod) => serves(pod, version.name) && isReady(pod)))
      .map(({ metadata, version }) => `${metadata.name} is Ready, but ${version.name} has no ready pod`),
}

function isVersion(object: KubeObject): object is Deployment {
  return isDeployment(object) && object.metadata.labels?.[VERSION_LABEL] !== undefined
}

function serves(pod: Pod, version: string): boolean {
  return servingRoleOf(pod) === 'server' && versionOf(pod) === version
}

function isReady({ status, metadata }: Pod): boolean {
  const isSaid = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  return isSaid && metadata.deletionTimestamp === undefined
}

type See = NonNullable<Oracle['see']>

/** Called for every route that is written to a router's pod. */
function onRoute(judge: (route: readonly RouteEntry[], pod: Pod, world: World) => string | undefined): See {
  return ({ type, object, previous }, world) => {
    const text = object.metadata.annotations?.[ROUTE_ANNOTATION]
    const isNew = text !== undefined && text !== previous?.metadata.annotations?.[ROUTE_ANNOTATION]
    if (type === 'deleted' || !isPod(object) || !isNew) return undefined
    return judge(JSON.parse(text) as RouteEntry[], object, world)
  }
}
