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

export interface HTTPRouteRule {
  readonly matches?: readonly { readonly headers?: readonly { readonly name: string; readonly value: string }[] }[]
  readonly filters?: readonly {
    readonly type: 'RequestMirror'
    readonly requestMirror: {
      readonly backendRef: { readonly name: string; readonly port?: number }
      readonly percent?: number
    }
  }[]
  readonly backendRefs?: readonly BackendReference[]
}

export interface HTTPRoute extends KubeObject {
  readonly spec: {
    readonly parentRefs?: readonly ParentReference[]
    readonly hostnames?: readonly string[]
    readonly rules?: readonly HTTPRouteRule[]
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

/** The backends of all requests that no rule of their own matches. */
export const backendsOf = ({ spec }: HTTPRoute): readonly BackendReference[] => spec.rules?.at(-1)?.backendRefs ?? []
