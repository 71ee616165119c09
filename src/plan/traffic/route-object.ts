/** What the objects of all providers have in common: how they are headed, and how they are found again. */
import { apiVersionOf, type KubeObject, type Resource } from '../../kube/object.ts'
import { MODEL_UID_LABEL, ROLE_LABEL } from '../model-names.ts'
import type { TrafficObserved, TrafficTarget } from './contract.ts'

export function rendering({ namespace, labels }: TrafficTarget, resource: Resource, name: string): KubeObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name, namespace, labels } }
}

/** One of the route objects that were observed, unless it is on its way out. */
export function observedOf<T extends KubeObject>(
  { routes }: TrafficObserved,
  resource: Resource<T>,
  name: string,
): T | undefined {
  const apiVersion = apiVersionOf(resource)
  const found = routes.find(
    (route) => route.kind === resource.kind && route.apiVersion === apiVersion && route.metadata.name === name,
  )
  return found?.metadata.deletionTimestamp === undefined ? (found as T | undefined) : undefined
}

/** The model, for what names its objects. */
export const named = ({ name }: TrafficTarget) => ({ metadata: { name } })

/** Selects all pods of the model that do the same. */
export function podsOf({ labels }: TrafficTarget, role: 'server' | 'router'): Record<string, string> {
  return { [MODEL_UID_LABEL]: labels[MODEL_UID_LABEL] ?? '', [ROLE_LABEL]: role }
}
