/** What the objects of providers have in common: which pods they lead to, and how they are found again. */
import { apiVersionOf, type KubeObject, type Resource } from '../../../kube/object.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../model-names.ts'
import type { Entrance, TrafficObserved, TrafficTarget } from '../contract.ts'

/** One of the observed route objects, unless it is terminating. */
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

/** Selects the pods of the model that have this role. */
export function podsOf({ labels }: TrafficTarget, role: string): Record<string, string> {
  return { [MODEL_UID_LABEL]: labels[MODEL_UID_LABEL] ?? '', [ROLE_LABEL]: role }
}

/** Selects the pods of all versions. */
export const allServers = (target: TrafficTarget): Record<string, string> => podsOf(target, 'server')

/** An object of this kind exists, and the Service leads to the pods of all versions. */
export function hasRoute({ selector, routes }: Entrance, { kind }: Resource): boolean {
  const isOpen = selector[VERSION_LABEL] === undefined && (selector[ROLE_LABEL] ?? 'server') === 'server'
  return isOpen && routes.some((route) => route.kind === kind)
}
