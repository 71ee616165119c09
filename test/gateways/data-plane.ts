/** A controller of the Gateway API with a data plane that carries requests. */
import { join } from 'node:path'
import type { Cluster } from '../../testenv/cluster.ts'
import { GATEWAY_API } from '../../testenv/crds.ts'
import { moduleDirectory } from '../../testenv/go-module.ts'
import type { Target } from '../monitoring/prometheus.ts'

export interface DataPlane {
  /** Of its GatewayClass. */
  readonly controllerName: string
  /** Listeners have this port. */
  readonly port: number
  /** What Prometheus scrapes of it. */
  readonly targets: readonly Target[]
  /** Settings of the operator for models behind it. */
  readonly serving: Readonly<Record<string, unknown>>
  stop(): Promise<void>
}

/** Installs what the Gateway API publishes for clusters, and fixed names for what a test needs of it. */
export async function installGatewayApi({ plane }: Cluster): Promise<void> {
  const module = await moduleDirectory(GATEWAY_API)
  await plane.kubectl('apply', '--server-side', '-f', join(module, 'config', 'crd', 'standard'))
  await plane.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
}

/** The only hostname that the Gateway `closed` accepts. */
const OTHER_HOSTNAME = 'other.example.com'

/** A class, the Gateway `public` for all hostnames, and the Gateway `closed` for one. Returns the URL of `public`. */
export async function createGateways(
  { plane }: Cluster,
  namespace: string,
  { controllerName, port }: DataPlane,
): Promise<string> {
  const apiVersion = 'gateway.networking.k8s.io/v1'
  const gateway = (name: string, listener: object): object => ({
    apiVersion,
    kind: 'Gateway',
    metadata: { namespace, name },
    spec: { gatewayClassName: namespace, listeners: [{ name: 'http', protocol: 'HTTP', port, ...listener }] },
  })
  await plane.kubectl.with(
    [
      { apiVersion, kind: 'GatewayClass', metadata: { name: namespace }, spec: { controllerName } },
      gateway('public', {}),
      gateway('closed', { hostname: OTHER_HOSTNAME }),
    ],
    'create',
  )
  const about = ['-n', namespace, 'gateway/public']
  await plane.kubectl('wait', '--for=condition=Programmed', '--timeout=180s', ...about)
  const address = await plane.kubectl('get', '-o=jsonpath={.status.addresses[0].value}', ...about)
  return `http://${address}:${port}`
}
