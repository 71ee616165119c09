/** The router's settings in the operator's configuration. */
import type { Resources } from '../../../pod/resources.ts'

export interface RouterConfig {
  /** Envoy 1.38 or newer, with a shell. */
  readonly routerImage: string
  readonly routerReplicas: number
  readonly routerResources: Resources
}

export const defaultRouterConfig: RouterConfig = {
  routerImage: 'docker.io/envoyproxy/envoy:v1.38.3',
  routerReplicas: 2,
  routerResources: { requests: { cpu: '100m', memory: '96Mi' }, limits: { cpu: '1', memory: '256Mi' } },
}
