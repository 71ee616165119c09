/** What all Kubernetes objects have in common, as raw JSON: times are strings, unknown fields survive a round trip. */

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly generateName?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** Identifies one object of a known kind. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}

/**
 * The location of a kind in the API: enough to build all its paths. The type parameter gives the objects of the server a
 * static type; it exists only at compile time.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly __type?: T
}

/** `namespace/name`, or `name` for cluster-scoped objects, as in queues and logs. */
export function keyString(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`
}

export function keyOf(object: KubeObject): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}

/** `Kind/name`, for messages to people. */
export function nameWithKind({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`
}

/** The owner reference with `controller: true`; there is at most one. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)
}
