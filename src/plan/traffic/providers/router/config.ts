/** The router's settings in the operator's configuration. */
import type { Resources } from '../../../pod/resources.ts'

export interface RouterConfig {
  /** HAProxy 2.6 or newer. */
  readonly routerImage: string
  readonly routerReplicas: number
  readonly routerResources: Resources
}

export const defaultRouterConfig: RouterConfig = {
  routerImage: 'docker.io/library/haproxy:3.0',
  routerReplicas: 2,
  routerResources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } },
}
