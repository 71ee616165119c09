/** Kinds of the Gateway API, as far as they are written and read here. Optional fields may be missing: anyone may edit the objects. */
import type { KubeObject, Resource } from '../../../../kube/object.ts'

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

export const HTTPRoute: Resource<HTTPRoute> = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
}

/** All backends of an HTTPRoute. */
export const backendsOf = ({ spec }: HTTPRoute): BackendReference[] =>
  (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs)
