/** Oracles for a ModelDeployment and its children. */
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { Deployment, EndpointSlice, type Job, Pod } from '../../../src/kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, serviceName, VERSION_LABEL } from '../../../src/plan/model-names.ts'
import { contentOf } from '../../builders/model-deployment.ts'
import { evictions } from './eviction-oracle.ts'
import { rolloutOracles } from './rollout-oracles.ts'
import { inStoreOrder } from './store-order.ts'
import { isModel, isRecreated, isServed, isVersion, labelOf, modelOf } from './serving-objects.ts'
import { trafficOracles } from './traffic-oracles.ts'
import type { Oracle, ObservedChange } from './oracle.ts'

const isOurs = (object: KubeObject): boolean => labelOf(object, MODEL_UID_LABEL) !== undefined

export function servingOracles(): Oracle[] {
  const ofVersions = [lastReadyVersion(), validatedVersions(), evictions()]
  return [...trafficOracles(), ...rolloutOracles(), ...ofVersions, owned, generations, truthfulStatus, reachable]
}

/** S5: the last ready version is not removed while the model exists. */
function lastReadyVersion(): Oracle {
  const isAvailable = (other: Deployment): boolean => isVersion(other) && (other.status?.availableReplicas ?? 0) > 0
  return inStoreOrder({
    name: 'S5',
    onChange: ({ type, object }, cluster) => {
      const model = type === 'deleted' && isVersion(object) ? modelOf(object, cluster) : undefined
      if (!model || isRecreated(model)) return undefined
      const isLast = !cluster.list(Deployment).some(isAvailable)
      return isLast ? `${object.metadata.name} was removed and no other version was ready` : undefined
    },
  })
}

/** S7: if a model requires validation, a version runs only what a validation Job has passed. */
function validatedVersions(): Oracle {
  const passed = new Set<string>()
  const idOf = (object: Deployment | Job): string => `${labelOf(object, VERSION_LABEL)} ${contentOf(object)}`
  return inStoreOrder({
    name: 'S7',
    onChange: ({ type, object }, cluster) => {
      if (isPassedValidation(object)) passed.add(idOf(object))
      const model = modelOf(object, cluster)
      if (type === 'deleted' || !isVersion(object) || !model?.spec.validation) return undefined
      return passed.has(idOf(object)) ? undefined : `${object.metadata.name} runs what has not passed its validation`
    },
  })
}

function isPassedValidation(object: KubeObject): object is Job {
  if (object.kind !== 'Job' || labelOf(object, ROLE_LABEL) !== 'validation') return false
  return (
    (object as Job).status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false
  )
}

/** G2: every child has a controller. */
const owned: Oracle = {
  name: 'G2',
  onChange: ({ type, object }) => {
    if (type !== 'created' || !isOurs(object)) return undefined
    const isControlled = object.metadata.ownerReferences?.some(({ controller }) => controller)
    return isControlled ? undefined : `${object.kind}/${object.metadata.name} has no controller`
  },
}

/** G3: `observedGeneration` exists and never decreases. */
const generations: Oracle = {
  name: 'G3',
  onChange: ({ type, object, previous }: ObservedChange) => {
    if (type === 'deleted' || !isModel(object)) return undefined
    const observed = object.status?.observedGeneration ?? 0
    if (observed > (object.metadata.generation ?? 0)) return `observed ${observed} of ${object.metadata.generation}`
    const before = (previous as ModelDeployment | undefined)?.status?.observedGeneration ?? 0
    return observed < before ? 'observedGeneration decreased' : undefined
  },
}

/** G3: the weights of a status sum to 100 or 0. At rest, a Ready model has ready pods for every version with traffic. */
const truthfulStatus: Oracle = {
  name: 'G3',
  onChange: ({ type, object }) => {
    if (type === 'deleted' || !isModel(object)) return undefined
    const sum = (object.status?.activeVersions ?? []).reduce((total, { weight = 0 }) => total + weight, 0)
    return sum === 0 || sum === 100 ? undefined : `the weights of the status sum to ${sum}`
  },
  atRest: (cluster) =>
    cluster
      .all()
      .filter(isModel)
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .flatMap(({ metadata, status }) => (status?.activeVersions ?? []).map((version) => ({ metadata, version })))
      .filter(({ version }) => (version.weight ?? 0) > 0)
      .filter(({ version }) => !isServed(version.name, cluster.list(Pod)))
      .map(({ metadata, version }) => `${metadata.name} is Ready, but ${version.name} has no ready pod`),
}

/** G3: at rest, the Service of a Ready model has ready endpoints. */
const reachable: Oracle = {
  name: 'G3',
  atRest: (cluster) =>
    cluster
      .all()
      .filter(isModel)
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .filter((model) => !hasEndpoints(serviceName(model), cluster.list(EndpointSlice)))
      .map((model) => `${model.metadata.name} is Ready, but ${serviceName(model)} has no ready endpoint`),
}

function hasEndpoints(service: string, slices: readonly EndpointSlice[]): boolean {
  return slices
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service)
    .some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready))
}
