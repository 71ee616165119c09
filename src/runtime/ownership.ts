/**
 * Who controls an object: the one owner reference with `controller: true`, by uid. An owner is cluster-scoped or in the
 * namespace of its child: a reference to another namespace is forged or a mistake, and the garbage collector ignores it.
 */
import { controllerOf, type KubeObject, type OwnerReference } from '../kube/object.ts'
import type { Caches } from './caches.ts'

export function controllerReference(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  if (metadata.uid === undefined)
    throw new Error(`${kind} ${metadata.name} has no uid: only a stored object can be an owner`)
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const { uid, namespace } = owner.metadata
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false
  return object.metadata.ownerReferences?.some((reference) => reference.controller && reference.uid === uid) ?? false
}

/** The object in the namespace of its owner. Throws if it names another: nothing is written across namespaces. */
export function beside<T extends KubeObject>(object: T, owner: KubeObject): T {
  const namespace = object.metadata.namespace ?? owner.metadata.namespace
  if (owner.metadata.namespace !== undefined && namespace !== owner.metadata.namespace) {
    throw new Error(`${object.kind} ${object.metadata.name} is not in the namespace of its owner`)
  }
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

/** The object as a child: in the namespace of its owner and controlled by it. */
export function controlled<T extends KubeObject>(object: T, owner: KubeObject): T {
  const child = beside(object, owner)
  return { ...child, metadata: { ...child.metadata, ownerReferences: [controllerReference(owner)] } }
}

const REPLICA_SET = { apiVersion: 'apps/v1', kind: 'ReplicaSet' }
const TEMPLATE_HASH_LABEL = 'pod-template-hash'

/**
 * The Deployment of a pod, by the name of its ReplicaSet, `{deployment}-{template hash}`, so that ReplicaSets need not be
 * cached. `isSelectedBy` checks whether the Deployment really selects the pod.
 */
export function deploymentOf(object: KubeObject): Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'> | undefined {
  const { labels, ownerReferences } = object.metadata
  const replicaSet = ownerReferences?.find(
    ({ controller, kind, apiVersion }) =>
      controller && kind === REPLICA_SET.kind && apiVersion === REPLICA_SET.apiVersion,
  )
  const suffix = `-${labels?.[TEMPLATE_HASH_LABEL] ?? ''}`
  if (!replicaSet || suffix === '-' || !replicaSet.name.endsWith(suffix)) return undefined
  return { apiVersion: replicaSet.apiVersion, kind: 'Deployment', name: replicaSet.name.slice(0, -suffix.length) }
}

export function isSelectedBy(object: KubeObject, parent: KubeObject): boolean {
  const { spec } = parent as { spec?: { selector?: { matchLabels?: Readonly<Record<string, string>> } } }
  const wanted = Object.entries(spec?.selector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([key, value]) => object.metadata.labels?.[key] === value)
}

/** Controlled by the owner, or by a child of the owner, such as the pods of a Job or a Deployment. */
export function isDescendant(object: KubeObject, owner: KubeObject, caches: Pick<Caches, 'find'>): boolean {
  if (isControlledBy(object, owner)) return true
  const controller = controllerOf(object)
  if (!controller) return false
  const { namespace } = object.metadata
  const deployment = deploymentOf(object)
  const { name, ...kind } = deployment ?? controller
  const key = { name, ...(namespace !== undefined && { namespace }) }
  const parent = caches.find(kind, key)
  if (!parent || !isControlledBy(parent, owner)) return false
  return deployment ? isSelectedBy(object, parent) : parent.metadata.uid === controller.uid
}
