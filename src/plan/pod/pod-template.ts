/** Merges the pod templates of users into a pod of the operator. What the operator keeps for itself stays as it is. */
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts'
import { type GuardedContainer, type PodGuards, RESERVED_KEYS } from '../../api/pod-guards.ts'
import type { UserPodTemplate } from '../../api/pod-template.ts'
import type { Pod } from '../../kube/resources.ts'
import { mergePodSpec } from './merge.ts'

export interface RenderedPod {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations?: Record<string, string> }
  readonly spec: NonNullable<Pod['spec']>
}

/** The templates in order: of the spec, then of the role or version. */
export type Templates = readonly (UserPodTemplate | undefined)[]

export function withPodTemplates<T extends RenderedPod>(pod: T, templates: Templates, guards: PodGuards): T {
  return templates.reduce((merged: T, template) => (template ? withTemplate(merged, template, guards) : merged), pod)
}

function withTemplate<T extends RenderedPod>(pod: T, { metadata, spec }: UserPodTemplate, guards: PodGuards): T {
  const { labels, annotations } = pod.metadata
  const more = unreserved(metadata?.annotations)
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...unreserved(metadata?.labels), ...labels },
      ...((annotations ?? Object.keys(more).length > 0) && { annotations: { ...annotations, ...more } }),
    },
    ...(spec && { spec: mergedSpec(pod.spec, spec as JsonObject, guards) }), // eslint-disable-line typescript/no-unsafe-type-assertion -- the API server keeps other fields too
  }
}

const reserved = new RegExp(RESERVED_KEYS)

function unreserved(map: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !reserved.test(key)))
}

function mergedSpec(spec: RenderedPod['spec'], part: JsonObject, guards: PodGuards): RenderedPod['spec'] {
  const base = spec as unknown as JsonObject // eslint-disable-line typescript/no-unsafe-type-assertion -- a rendered pod is JSON
  const merged = mergePodSpec(base, permitted(base, part, guards))
  // In the network of its node, a pod finds the others only with this policy.
  const dns = merged['hostNetwork'] === true && merged['dnsPolicy'] === undefined
  return { ...merged, ...(dns && { dnsPolicy: 'ClusterFirstWithHostNet' }) } as unknown as RenderedPod['spec'] // eslint-disable-line typescript/no-unsafe-type-assertion -- the API server checks it
}

/**
 * The part without what the operator keeps for itself. The CRD rejects most of it already; not rejected is what a v1alpha1
 * client has stored in an annotation, and a mount at a path that is known only here.
 */
function permitted(base: JsonObject, part: JsonObject, guards: PodGuards): JsonObject {
  const { container, initContainer, otherContainers, volumes } = guards
  const isFree = (item: Json): boolean => !volumes.includes(nameOf(item))
  const inside = (list: string, own: GuardedContainer | undefined, other: GuardedContainer | undefined) => {
    const taken = [...otherContainers, ...(other ? [other.name] : [])]
    const free = itemsIn(part[list]).filter((item) => !taken.includes(nameOf(item)))
    return free.map((item) => (own && nameOf(item) === own.name ? permittedIn(base[list], item, own, volumes) : item))
  }
  return Object.fromEntries(
    Object.entries(part).flatMap(([name, value]): [string, Json | undefined][] => {
      if (Object.hasOwn(guards.fields, name)) return []
      if (name === 'containers') return [[name, inside(name, container, initContainer)]]
      if (name === 'initContainers') return [[name, inside(name, initContainer, container)]]
      return [[name, name === 'volumes' ? itemsIn(value).filter(isFree) : value]]
    }),
  )
}

function permittedIn(known: Json | undefined, item: Json, own: GuardedContainer, volumes: readonly string[]): Json {
  if (!isJsonObject(item)) return item
  const rendered = itemsIn(known).find((one) => nameOf(one) === own.name) ?? null
  const mounts = itemsIn(valueOf(rendered, 'volumeMounts')).filter((mount) => volumes.includes(nameOf(mount)))
  const ports = itemsIn(valueOf(rendered, 'ports')).map((port) => valueOf(port, 'containerPort'))
  const ownPaths = new RegExp(own.paths)
  const isOwnPath = (path: Json | undefined): boolean =>
    typeof path === 'string' && (ownPaths.test(path) || mounts.some((mount) => valueOf(mount, 'mountPath') === path))
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, value]): [string, Json | undefined][] => {
      if (Object.hasOwn(own.fields, name)) return []
      if (name === 'env') return [[name, itemsIn(value).filter((one) => !own.variables.includes(nameOf(one)))]]
      if (name === 'volumeMounts')
        return [[name, itemsIn(value).filter((one) => !isOwnPath(valueOf(one, 'mountPath')))]]
      if (name === 'ports') return [[name, itemsIn(value).map((port) => withoutName(port, ports))]]
      return [[name, name === 'resources' ? permittedResources(value, own) : value]]
    }),
  )
}

/** Services find the port of a server by the name that it has already. */
function withoutName(port: Json, known: readonly (Json | undefined)[]): Json {
  if (!isJsonObject(port) || !known.includes(port['containerPort'])) return port
  const { name: _name, ...rest } = port
  return rest
}

function permittedResources(value: Json | undefined, { fields }: GuardedContainer): Json | undefined {
  if (!isJsonObject(value)) return undefined
  return Object.fromEntries(Object.entries(value).filter(([name]) => !Object.hasOwn(fields, `resources.${name}`)))
}

const itemsIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

const valueOf = (item: Json, key: string): Json | undefined => (isJsonObject(item) ? item[key] : undefined)

function nameOf(item: Json): string {
  const name = valueOf(item, 'name')
  return typeof name === 'string' ? name : ''
}
