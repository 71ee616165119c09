/**
 * The kinds of other products that divide traffic: only what we write and read of them. What their definitions do not
 * demand may be missing from what is read: anybody may have edited it.
 */
import type { KubeObject, Resource } from '../../kube/object.ts'

export interface HttpDestination {
  readonly destination: { readonly host: string; readonly subset?: string; readonly port?: { readonly number: number } }
  readonly weight?: number
}

export interface VirtualService extends KubeObject {
  readonly spec: {
    readonly hosts: readonly string[]
    readonly gateways?: readonly string[]
    readonly http?: readonly { readonly route?: readonly HttpDestination[] }[]
  }
  /** Written only by an istiod that is configured to. */
  readonly status?: { readonly observedGeneration?: number | string }
}

export interface DestinationRule extends KubeObject {
  readonly spec: {
    readonly host: string
    readonly subsets?: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[]
  }
}

export interface ParentReference {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

interface ParentStatus {
  readonly parentRef: Partial<ParentReference> & Pick<ParentReference, 'name'>
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly observedGeneration?: number
  }[]
}

export interface BackendReference {
  readonly name: string
  readonly port?: number
  readonly weight: number
}

export interface HTTPRoute extends KubeObject {
  readonly spec: {
    readonly parentRefs?: readonly ParentReference[]
    readonly hostnames?: readonly string[]
    readonly rules?: readonly { readonly backendRefs?: readonly BackendReference[] }[]
  }
  readonly status?: { readonly parents?: readonly ParentStatus[] }
}

export const VirtualService: Resource<VirtualService> = {
  group: 'networking.istio.io',
  version: 'v1',
  kind: 'VirtualService',
  plural: 'virtualservices',
  namespaced: true,
}

export const DestinationRule: Resource<DestinationRule> = {
  group: 'networking.istio.io',
  version: 'v1',
  kind: 'DestinationRule',
  plural: 'destinationrules',
  namespaced: true,
}

export const HTTPRoute: Resource<HTTPRoute> = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
}

/** All that a VirtualService leads to. */
export const destinationsOf = ({ spec }: VirtualService): HttpDestination[] =>
  (spec.http ?? []).flatMap(({ route = [] }) => route)

/** All that an HTTPRoute leads to. */
export const backendsOf = ({ spec }: HTTPRoute): BackendReference[] =>
  (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs)
