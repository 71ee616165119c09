/** What whoever runs the operator may decide about traffic. */
export interface TrafficConfig {
  /** HAProxy 2.6 or newer. */
  readonly routerImage: string
  readonly routerReplicas: number
  readonly routerResources: {
    readonly requests: Readonly<Record<string, string>>
    readonly limits: Readonly<Record<string, string>>
  }
  /** The operator's own image: its agent runs beside HAProxy and before a model server. */
  readonly agentImage: string
}

export const defaultTrafficConfig: TrafficConfig = {
  routerImage: 'docker.io/library/haproxy:3.0',
  routerReplicas: 2,
  routerResources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } },
  agentImage: 'ghcr.io/ml-operator/ml-operator:latest',
}
