/** Istio's kinds, as far as they are written and read here. Optional fields may be missing: anyone may edit the objects. */
import type { KubeObject, Resource } from '../../../../kube/object.ts'

export interface HttpDestination {
  readonly destination: { readonly host: string; readonly subset?: string; readonly port?: { readonly number: number } }
  readonly weight?: number
}

export interface HttpMatch {
  readonly headers?: Readonly<Record<string, { readonly exact: string } | { readonly regex: string }>>
}

export interface HttpRoute {
  readonly match?: readonly HttpMatch[]
  readonly route?: readonly HttpDestination[]
  readonly mirror?: HttpDestination['destination']
  readonly mirrorPercentage?: { readonly value: number }
}

export interface VirtualService extends KubeObject {
  readonly spec: {
    readonly hosts: readonly string[]
    readonly gateways?: readonly string[]
    readonly exportTo?: readonly string[]
    readonly http?: readonly HttpRoute[]
  }
  /** Written only by an istiod that is configured to. */
  readonly status?: { readonly observedGeneration?: number | string }
}

export interface DestinationRule extends KubeObject {
  readonly spec: {
    readonly host: string
    readonly exportTo?: readonly string[]
    readonly subsets?: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[]
  }
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

/** The destinations of all requests that no rule of their own matches. */
export const destinationsOf = ({ spec }: VirtualService): readonly HttpDestination[] => spec.http?.at(-1)?.route ?? []
