/**
 * The caches of the serving controllers: of each kind only objects of models, of pods only what is read. Gather looks
 * everything up by an index, so a pass costs no list, however many models there are.
 */
import { mlopsModelDeployments, modelServers } from '../api/kinds.ts'
import type { MlopsModelDeployment } from '../api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment } from '../api/modeldeployment.v1.ts'
import type { ModelServer } from '../api/modelserver.v1.ts'
import { keyOf, keyString, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import {
  ConfigMap,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Job,
  type Node,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../kube/resources.ts'
import { MODEL_UID_LABEL, VERSION_LABEL } from '../plan/model-names.ts'
import type { Model } from '../plan/serving/index.ts'
import { kindName, type ProviderKind, providers } from '../plan/traffic/index.ts'
import type { Cache, Caches, Exclusive, KindOptions } from '../runtime/index.ts'
import { modelCache, modelIndexes, UID } from './model-cache.ts'
import { nodeCache, nodeIndex } from './node-cache.ts'
import { QUEUED } from './queued.ts'
import { trimmedServer } from './trimmed-pod.ts'

/** What a model controls, without the kinds of providers. Pods belong to its Deployments and Jobs. */
export interface ChildCaches {
  readonly deployments: Cache<Deployment>
  readonly services: Cache<Service>
  readonly autoscalers: Cache<HorizontalPodAutoscaler>
  readonly budgets: Cache<PodDisruptionBudget>
  readonly configMaps: Cache<ConfigMap>
  readonly claims: Cache<PersistentVolumeClaim>
  readonly jobs: Cache<Job>
}

export interface ServingCaches {
  readonly models: Cache<ModelDeployment>
  /** Absent if the operator does not serve this API group. */
  readonly mlopsModels?: Cache<MlopsModelDeployment>
  readonly servers: Cache<ModelServer>
  readonly pods: Cache<Pod>
  readonly nodes: Cache<Node>
  /** Of the models' Services, not of those of single versions. They have the labels of their Service. */
  readonly endpoints: Cache<EndpointSlice>
  readonly children: ChildCaches
  /** One for each kind that a traffic provider declares. */
  readonly routes: readonly Cache[]
}

export interface ServingScope {
  /** One namespace or several instead of all. */
  readonly namespace?: string | readonly string[]
  /** How often to ask for kinds that the cluster does not serve. */
  readonly discoveryMs?: number
  /** Whether to serve the ModelDeployments of mlops.sathvik.dev; by default true. */
  readonly mlops?: boolean
}

/** Index: what belongs to models by the key of a model, present or past. */
const MODEL = 'model'

export function servingCaches(caches: Caches, options: ServingScope = {}): ServingCaches {
  const { namespace, discoveryMs, mlops = true } = options
  const scope = namespace === undefined ? {} : { namespace }
  const ours = {
    ...scope,
    labelSelector: MODEL_UID_LABEL,
    labels: [MODEL_UID_LABEL],
    indexes: { [MODEL]: (object: KubeObject) => modelNames(object).map(keyString) },
  }
  const child = <T extends KubeObject>(resource: Resource<T>, more: KindOptions<T> = { exclusive: {} }): Cache<T> =>
    caches.of(resource, { ...ours, ...more })
  const optional = discoveryMs === undefined ? {} : { pollMs: discoveryMs }
  return {
    models: modelCache(caches, scope),
    ...(mlops && { mlopsModels: caches.of(mlopsModelDeployments, { ...scope, indexes: modelIndexes }) }),
    servers: caches.of(modelServers, scope),
    pods: child(Pod, { trim: trimmedServer, indexes: { ...ours.indexes, ...nodeIndex } }),
    nodes: nodeCache(caches),
    endpoints: child(EndpointSlice, {
      labelSelector: `${MODEL_UID_LABEL},!${VERSION_LABEL}`,
      trim: trimmedEndpoints,
    }),
    children: {
      deployments: child(Deployment, { exclusive: { except: ['spec.replicas'] } }),
      services: child(Service),
      autoscalers: child(HorizontalPodAutoscaler, { exclusive: {}, trim: trimmedAutoscaler }),
      budgets: child(PodDisruptionBudget, { exclusive: {}, trim: trimmedBudget }),
      configMaps: child(ConfigMap),
      // Bound and resized by others.
      claims: child(PersistentVolumeClaim, {}),
      jobs: child(Job, { exclusive: QUEUED }),
    },
    routes: providers.kinds.map((kind) => child(kind.resource, { exclusive: exclusiveOf(kind), optional })),
  }
}

const exclusiveOf = ({ sharedFields }: ProviderKind): Exclusive => (sharedFields ? { except: sharedFields } : {})

/** The kinds of providers that the cluster serves. */
export function servedKinds({ routes }: ServingCaches): ReadonlySet<string> {
  return new Set(routes.filter(({ isServed }) => isServed).map(({ resource }) => kindName(resource)))
}

/** Everything that a model controls. */
export const controlledCaches = ({ children, routes }: ServingCaches): readonly Cache[] => [
  ...(Object.values(children) as Cache[]),
  ...routes,
]

/** The model of this cache and namespace that an object names by label: pods are not owned by the model itself. */
export function modelKeys<T extends Model>(models: Cache<T>): (object: KubeObject) => ObjectKey[] {
  return ({ metadata: { labels, namespace } }) =>
    models
      .byIndex(UID, labels?.[MODEL_UID_LABEL] ?? '')
      .map(keyOf)
      .filter((key) => key.namespace === namespace)
}

/** Objects under the names of a model that an earlier model of the same name controls. Their labels can be edited by others. */
export function leftovers(model: Model, caches: ServingCaches): KubeObject[] {
  const { apiVersion, kind, metadata } = model
  const isOfNamesake = ({ metadata: { ownerReferences } }: KubeObject): boolean =>
    ownerReferences?.some(
      (owner) =>
        owner.controller &&
        owner.kind === kind &&
        owner.name === metadata.name &&
        owner.apiVersion === apiVersion &&
        owner.uid !== metadata.uid,
    ) ?? false
  return controlledCaches(caches)
    .flatMap((cache) => cache.byIndex(MODEL, keyString(keyOf(model))))
    .filter(isOfNamesake)
}

function modelNames({ metadata: { namespace, labels } }: KubeObject): ObjectKey[] {
  const name = labels?.['app']
  return name === undefined ? [] : [{ name, ...(namespace !== undefined && { namespace }) }]
}

/** Replicas and conditions. The current load changes by the second and is not read. */
function trimmedAutoscaler(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { currentReplicas, desiredReplicas, conditions } = autoscaler.status ?? {}
  const lean = conditions?.map(({ type, status, reason, message }) => ({ type, status, reason, message }))
  const status = { currentReplicas, desiredReplicas, conditions: lean }
  return { ...autoscaler, status } as HorizontalPodAutoscaler
}

/** Its status changes with every pod and is not read. */
function trimmedBudget({ apiVersion, kind, metadata, spec }: PodDisruptionBudget): PodDisruptionBudget {
  return { apiVersion, kind, metadata, ...(spec && { spec }) }
}

/** Its owner, and one ready endpoint if there is any. Which ones they are is not read. */
function trimmedEndpoints(slice: EndpointSlice): EndpointSlice {
  const { apiVersion, kind, metadata, addressType, endpoints } = slice
  const { name, namespace, uid, resourceVersion, labels, ownerReferences } = metadata
  const ready = endpoints?.find(({ conditions }) => conditions?.ready)
  const lean = {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, labels, ownerReferences },
    addressType,
    endpoints: ready ? [{ addresses: [], conditions: { ready: true } }] : [],
  }
  return lean as unknown as EndpointSlice
}
