/**
 * Paths of the Kubernetes API. Every variable part is checked and encoded here and nowhere else, so that no name can
 * climb out of its place: an empty name would turn the deletion of one object into that of a whole collection.
 */
import type { ObjectKey, Resource } from './object.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** All objects of a kind, in one namespace or (when it is undefined) in all. */
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

/** A path given whole: kept as it is when each of its parts is harmless. */
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

/** The characters of every real name need no encoding, bar the colon of RBAC names; the rest is refused as the server would. */
function segment(value: string, role: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new TypeError(`${JSON.stringify(value)} cannot be a ${role} in the Kubernetes API`)
  }
  return encodeURIComponent(value)
}
