/** Who controls an object: the one owner reference with `controller: true`, told apart by uid. */
import type { KubeObject, OwnerReference } from '../kube/object.ts'
import type { Caches } from './caches.ts'

export function controllerReference(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  if (metadata.uid === undefined) throw new Error(`${kind} ${metadata.name} has no uid: only a stored object can own`)
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const { uid } = owner.metadata
  return object.metadata.ownerReferences?.some((reference) => reference.controller && reference.uid === uid) ?? false
}

/** The object in the owner's namespace, where it must be: nothing is ever written across namespaces. */
export function beside<T extends KubeObject>(object: T, owner: KubeObject): T {
  const namespace = object.metadata.namespace ?? owner.metadata.namespace
  if (owner.metadata.namespace !== undefined && namespace !== owner.metadata.namespace) {
    throw new Error(`${object.kind} ${object.metadata.name} is not in the namespace of its owner`)
  }
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

/** The object as a child: beside its owner and controlled by it. */
export function controlled<T extends KubeObject>(object: T, owner: KubeObject): T {
  const child = beside(object, owner)
  return { ...child, metadata: { ...child.metadata, ownerReferences: [controllerReference(owner)] } }
}

const TEMPLATE_HASH_LABEL = 'pod-template-hash'

/**
 * The Deployment that a pod came from, by the name of the ReplicaSet between them, `{deployment}-{hash of the template}`:
 * ReplicaSets need not be cached for it. Whether the Deployment really selects the pod is left to `isSelectedBy`.
 */
export function deploymentOf(object: KubeObject): Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'> | undefined {
  const { labels, ownerReferences } = object.metadata
  const replicaSet = ownerReferences?.find(({ controller, kind }) => controller && kind === 'ReplicaSet')
  const suffix = `-${labels?.[TEMPLATE_HASH_LABEL] ?? ''}`
  if (!replicaSet || suffix === '-' || !replicaSet.name.endsWith(suffix)) return undefined
  return { apiVersion: replicaSet.apiVersion, kind: 'Deployment', name: replicaSet.name.slice(0, -suffix.length) }
}

export function isSelectedBy(object: KubeObject, parent: KubeObject): boolean {
  const { spec } = parent as { spec?: { selector?: { matchLabels?: Readonly<Record<string, string>> } } }
  const wanted = Object.entries(spec?.selector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([key, value]) => object.metadata.labels?.[key] === value)
}

/** Controlled by the owner, or by a child that the owner controls, as the pods of a Job or a Deployment are. */
export function isDescendant(object: KubeObject, owner: KubeObject, caches: Pick<Caches, 'find'>): boolean {
  if (isControlledBy(object, owner)) return true
  const controller = object.metadata.ownerReferences?.find((reference) => reference.controller)
  if (!controller) return false
  const { namespace } = object.metadata
  const deployment = deploymentOf(object)
  const { name, ...kind } = deployment ?? controller
  const key = { name, ...(namespace !== undefined && { namespace }) }
  const parent = caches.find(kind, key)
  if (!parent || !isControlledBy(parent, owner)) return false
  return deployment ? isSelectedBy(object, parent) : parent.metadata.uid === controller.uid
}
