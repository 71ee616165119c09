/**
 * What the serving controllers keep in memory: of each kind only what belongs to a model, of pods only what is read.
 * Everything that gather asks for is an index, so that a pass costs no list, however many models there are.
 */
import { mlopsModelDeployments, modelDeployments, modelServers } from '../api/kinds.ts'
import type { MlopsModelDeployment } from '../api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment } from '../api/modeldeployment.v1.ts'
import type { ModelServer } from '../api/modelserver.v1.ts'
import { keyOf, keyString, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../kube/resources.ts'
import { MODEL_UID_LABEL } from '../plan/model-names.ts'
import type { Offers } from '../plan/serving/observed.ts'
import { runtimeNameOf } from '../plan/serving/runtimes/runtime.ts'
import { DestinationRule, HTTPRoute, VirtualService } from '../plan/traffic/kinds.ts'
import type { Cache, Caches, KindOptions } from '../runtime/index.ts'
import { trimmedPod } from './trimmed-pod.ts'

/** What a model controls: everything of its own but pods, which it has through Deployments and Jobs. */
export interface ChildCaches {
  readonly deployments: Cache<Deployment>
  readonly services: Cache<Service>
  readonly autoscalers: Cache<HorizontalPodAutoscaler>
  readonly budgets: Cache<PodDisruptionBudget>
  readonly configMaps: Cache<ConfigMap>
  readonly claims: Cache<PersistentVolumeClaim>
  readonly jobs: Cache<Job>
  readonly virtualServices: Cache<VirtualService>
  readonly destinationRules: Cache<DestinationRule>
  readonly httpRoutes: Cache<HTTPRoute>
}

export interface ServingCaches {
  readonly models: Cache<ModelDeployment>
  readonly mlopsModels: Cache<MlopsModelDeployment>
  readonly servers: Cache<ModelServer>
  readonly pods: Cache<Pod>
  readonly children: ChildCaches
}

export type Model = ModelDeployment | MlopsModelDeployment

export interface ServingScope {
  /** One namespace instead of all. */
  readonly namespace?: string
  /** How often a kind is asked for that the cluster does not have. */
  readonly discoveryMs?: number
}

/** Indexes: models by their ModelServer and by uid; what belongs to models by the key of a model, present or past. */
export const SERVER = 'server'
const UID = 'uid'
const MODEL = 'model'

export function servingCaches(caches: Caches, { namespace, discoveryMs }: ServingScope = {}): ServingCaches {
  const scope = namespace === undefined ? {} : { namespace }
  const models = {
    ...scope,
    indexes: { [UID]: ({ metadata }: KubeObject) => [metadata.uid ?? ''], [SERVER]: serverKeys },
  }
  const ours = {
    ...scope,
    labelSelector: MODEL_UID_LABEL,
    labels: [MODEL_UID_LABEL],
    indexes: { [MODEL]: (object: KubeObject) => modelNames(object).map(keyString) },
  }
  const child = <T extends KubeObject>(resource: Resource<T>, more: KindOptions<T> = {}): Cache<T> =>
    caches.of(resource, { ...ours, ...more })
  const optional = discoveryMs === undefined ? {} : { pollMs: discoveryMs }
  return {
    models: caches.of(modelDeployments, models),
    mlopsModels: caches.of(mlopsModelDeployments, models),
    servers: caches.of(modelServers, scope),
    pods: child(Pod, { trim: trimmedPod }),
    children: {
      deployments: child(Deployment),
      services: child(Service),
      autoscalers: child(HorizontalPodAutoscaler, { trim: trimmedAutoscaler }),
      budgets: child(PodDisruptionBudget, { trim: trimmedBudget }),
      configMaps: child(ConfigMap),
      claims: child(PersistentVolumeClaim),
      jobs: child(Job),
      virtualServices: child(VirtualService, { optional }),
      destinationRules: child(DestinationRule, { optional }),
      httpRoutes: child(HTTPRoute, { optional }),
    },
  }
}

export function offersOf({ virtualServices, destinationRules, httpRoutes }: ChildCaches): Offers {
  return { istio: virtualServices.isServed && destinationRules.isServed, gateway: httpRoutes.isServed }
}

/** The model of this cache that an object belongs to, by its label: pods are not owned by the model itself. */
export function modelKeys<T extends Model>(models: Cache<T>): (object: KubeObject) => ObjectKey[] {
  return ({ metadata }) => models.byIndex(UID, metadata.labels?.[MODEL_UID_LABEL] ?? '').map(keyOf)
}

/** What still stands under the names of a model, but was made for another that had its name before. */
export function leftovers(model: Model, { children }: ServingCaches): KubeObject[] {
  const { uid } = model.metadata
  const isOther = ({ metadata }: KubeObject): boolean => metadata.labels?.[MODEL_UID_LABEL] !== uid
  const isNamesake = ({ metadata }: KubeObject): boolean =>
    metadata.ownerReferences?.some(
      ({ controller, kind, name, apiVersion }) =>
        controller && kind === model.kind && name === model.metadata.name && apiVersion === model.apiVersion,
    ) ?? false
  return Object.values(children)
    .flatMap((cache: Cache) => cache.byIndex(MODEL, keyString(keyOf(model))))
    .filter((object) => isOther(object) && isNamesake(object))
}

function serverKeys(model: Model): string[] {
  const name = runtimeNameOf(model)
  return name === undefined ? [] : [keyString({ ...keyOf(model), name })]
}

function modelNames({ metadata: { namespace, labels } }: KubeObject): ObjectKey[] {
  const name = labels?.['app']
  return name === undefined ? [] : [{ name, ...(namespace !== undefined && { namespace }) }]
}

/** How many there are and should be, and why; what the load is right now changes by the second and is not read. */
function trimmedAutoscaler(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { currentReplicas, desiredReplicas, conditions } = autoscaler.status ?? {}
  const said = conditions?.map(({ type, status, reason, message }) => ({ type, status, reason, message }))
  const status = { currentReplicas, desiredReplicas, conditions: said }
  return { ...autoscaler, status } as HorizontalPodAutoscaler
}

/** What it allows changes with every pod and is not read. */
function trimmedBudget({ apiVersion, kind, metadata, spec }: PodDisruptionBudget): PodDisruptionBudget {
  return { apiVersion, kind, metadata, ...(spec && { spec }) }
}
