/**
 * NetworkPolicies on request: one for the operator, and two for each namespace with models. They allow what the operator, the
 * routers and the pods that fetch models need, and nothing else.
 */
import { PROXY_ROLE, REPORT_PORT as PROXY_REPORT_PORT } from '../../src/api/router-report.ts'
import { REPORT_PORT } from '../../src/api/training-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { HTTP_PORT_NAME, ROLE_LABEL } from '../../src/plan/model-names.ts'
import { NAME, NAMESPACE } from './roles.ts'

type Ports = readonly { readonly port: number | string; readonly protocol: 'TCP' | 'UDP' }[]

export interface NetworkPolicySpec {
  readonly podSelector: object
  readonly policyTypes: readonly ('Ingress' | 'Egress')[]
  readonly ingress?: readonly { readonly from?: readonly object[]; readonly ports?: Ports }[]
  readonly egress?: readonly { readonly to?: readonly object[]; readonly ports?: Ports }[]
}

const self = { matchLabels: { 'app.kubernetes.io/name': NAME } }
const tcp = (...ports: (number | string)[]): Ports => ports.map((port) => ({ port, protocol: 'TCP' }))
const everyNamespace = { namespaceSelector: {} }
const dns = { ports: [...tcp(53), { port: 53, protocol: 'UDP' as const }] }
const withRole = (role: string): object => ({ matchLabels: { [ROLE_LABEL]: role } })

/** The API server calls the webhook from an address that differs between clusters, so its port is open to all. */
export function operatorPolicy(): NetworkPolicySpec {
  return {
    podSelector: self,
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      { ports: tcp('webhook') },
      { from: [everyNamespace], ports: tcp('reports') },
      { from: [everyNamespace], ports: tcp('http') },
    ],
    egress: [
      dns,
      // The API server, at the port of its Service or of its endpoints.
      { ports: tcp(443, 6443) },
      { to: [{ ...everyNamespace, podSelector: withRole(PROXY_ROLE) }], ports: tcp(PROXY_REPORT_PORT) },
      // Health checks of model servers.
      { to: [{ ...everyNamespace, podSelector: withRole('server') }], ports: tcp(HTTP_PORT_NAME) },
      { to: [{ podSelector: self }], ports: tcp(REPORT_PORT) },
    ],
  }
}

/** Requests from everywhere, also from a load balancer; the page with the counters only from pods. */
export function proxyPolicy(): NetworkPolicySpec {
  return {
    podSelector: withRole(PROXY_ROLE),
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: tcp(HTTP_PORT_NAME) }, { from: [everyNamespace], ports: tcp(PROXY_REPORT_PORT) }],
    egress: [dns, { to: [{ podSelector: withRole('server') }] }],
  }
}

/** Model servers, whose init containers fetch models: every address but those of the node and of its cloud. */
export function serverPolicy(): NetworkPolicySpec {
  return {
    podSelector: withRole('server'),
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: tcp(HTTP_PORT_NAME) }],
    egress: [
      dns,
      {
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } },
          { ipBlock: { cidr: '::/0', except: ['fe80::/10'] } },
        ],
      },
    ],
  }
}

/** As kustomize installs them. Those for models have no namespace: apply them in each namespace with models. */
export function networkPolicies(): { readonly operator: KubeObject[]; readonly models: KubeObject[] } {
  return {
    operator: [policy(NAME, operatorPolicy(), NAMESPACE)],
    models: [policy(`${NAME}-proxies`, proxyPolicy()), policy(`${NAME}-servers`, serverPolicy())],
  }
}

function policy(name: string, spec: NetworkPolicySpec, namespace?: string): KubeObject {
  const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/part-of': NAME }
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels }
  return { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec } as KubeObject
}
