/**
 * Paths of the Kubernetes API. Every variable part is validated and encoded here and nowhere else, so that no name can
 * change the path: an empty name would turn the deletion of one object into that of a collection.
 */
import type { ObjectKey, Resource } from './object.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The path of all objects of a kind in one namespace, or in all if it is undefined. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const root = resource.group === '' ? '/api' : `/apis/${segment(resource.group, 'group')}`
  const base = `${root}/${segment(resource.version, 'version')}`
  const scope = namespace === undefined ? '' : `/namespaces/${segment(namespace, 'namespace')}`
  if (scope !== '' && !resource.namespaced) {
    throw new TypeError(`${resource.kind} is cluster-scoped and cannot be in namespace ${JSON.stringify(namespace)}`)
  }
  return `${base}${scope}/${segment(resource.plural, 'plural')}`
}

export function objectPath(resource: Resource, { namespace, name }: ObjectKey, subresource?: string): string {
  if (resource.namespaced && namespace === undefined) {
    throw new TypeError(`${resource.kind} ${JSON.stringify(name)} needs a namespace`)
  }
  const path = `${collectionPath(resource, namespace)}/${segment(name, 'name')}`
  return subresource === undefined ? path : `${path}/${segment(subresource, 'subresource')}`
}

/** Returns a complete path unchanged, or throws if one of its parts is unsafe. */
export function checkedPath(path: string): string {
  const [first, ...parts] = path.split('/')
  if (first !== '' || parts.some((part) => part === '.' || part === '..') || /[?#%\\\s]/.test(path)) {
    throw new TypeError(`${JSON.stringify(path)} is not a plain absolute path`)
  }
  return path
}

export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

/** Valid names need no encoding, except the colon of RBAC names. Rejects the same characters as the server. */
function segment(value: string, role: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TypeError(`${JSON.stringify(value)} cannot be a ${role} in the Kubernetes API`)
  }
  return encodeURIComponent(value)
}
