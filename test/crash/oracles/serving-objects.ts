/** Facts about the objects of a model, for the oracles. */
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import { entriesOf, ROUTE_ANNOTATION } from '../../../src/api/router-report.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import type { Deployment, Pod } from '../../../src/kube/resources.ts'
import { MODEL_UID_LABEL, VERSION_LABEL } from '../../../src/plan/model-names.ts'
import { backendsOf, type HTTPRoute } from '../../../src/plan/traffic/providers/gateway/kinds.ts'
import { destinationsOf, type VirtualService } from '../../../src/plan/traffic/providers/istio/kinds.ts'
import { servingRoleOf, versionOf } from '../../builders/model-deployment.ts'
import type { ClusterView } from './oracle.ts'

export const isPod = (object: KubeObject): object is Pod => object.kind === 'Pod'
export const isModel = (object: KubeObject): object is ModelDeployment => object.kind === 'ModelDeployment'
export const isHttpRoute = (object: KubeObject): object is HTTPRoute => object.kind === 'HTTPRoute'
const isVirtualService = (object: KubeObject): object is VirtualService => object.kind === 'VirtualService'

/** The Deployment of a version. */
export function isVersion(object: KubeObject): object is Deployment {
  return object.kind === 'Deployment' && labelOf(object, VERSION_LABEL) !== undefined
}

export const labelOf = ({ metadata }: KubeObject, label: string): string | undefined => metadata.labels?.[label]

/** The model that an object belongs to, if it exists. */
export function modelOf(object: KubeObject, cluster: ClusterView): ModelDeployment | undefined {
  return cluster
    .all()
    .filter(isModel)
    .find(({ metadata }) => metadata.uid === labelOf(object, MODEL_UID_LABEL))
}

/** A person chose to remove versions before others start, and the record is at that step or on the way back. */
export function isRecreated({ spec, status }: ModelDeployment): boolean {
  const { strategy, stepWeight, phase } = status?.rollout ?? {}
  const isRemoving = stepWeight === 0 || phase === 'RolledBack' || phase === 'Aborted'
  return spec.rollout?.strategy === 'recreate' && strategy === 'recreate' && isRemoving
}

/** Whether a pod of this version is ready. */
export function isServed(version: string, pods: readonly Pod[]): boolean {
  return pods.some((pod) => servingRoleOf(pod) === 'server' && versionOf(pod) === version && isReady(pod))
}

function isReady({ status, metadata }: Pod): boolean {
  const hasCondition = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  return hasCondition && metadata.deletionTimestamp === undefined
}

export interface Share {
  readonly version: string
  readonly weight: number
}

/** How a router pod, a VirtualService or an HTTPRoute splits requests. Undefined for other objects. */
export function routeIn(object: KubeObject): readonly Share[] | undefined {
  if (isVirtualService(object))
    return destinationsOf(object).map(({ destination, weight = 0 }) => ({ version: destination.subset ?? '', weight }))
  if (isHttpRoute(object))
    return backendsOf(object).map(({ name, weight }) => ({ version: versionIn(name, object), weight }))
  const text = isPod(object) ? object.metadata.annotations?.[ROUTE_ANNOTATION] : undefined
  return text === undefined ? undefined : entriesOf(text)
}

/** `{model}-{version}` is the Service of a version, and `{model}` its HTTPRoute. */
const versionIn = (service: string, { metadata }: HTTPRoute): string => service.slice(metadata.name.length + 1)
