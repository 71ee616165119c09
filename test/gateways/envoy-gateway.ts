import { join } from 'node:path'
import { envoyImage, ENVOY_IMAGE } from '../../images/envoy.ts'
import { envoyGateway } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import type { Cluster } from '../../testenv/cluster.ts'
import { type GoModule, moduleDirectory } from '../../testenv/go-module.ts'
import { buildImage } from '../../testenv/image.ts'
import { helmFor } from '../cluster/helm.ts'
import type { DataPlane } from './data-plane.ts'

/** The module that `testenv/go/envoy-gateway` compiles, for its chart and its CRDs. */
const MODULE: GoModule = {
  module: 'github.com/envoyproxy/gateway',
  version: 'v1.8.0',
  sum: 'h1:pn5TYSteO1zZjUMPVXGY7ayFDhZAZZWAQ+yDgVzj78o=',
}
const REPOSITORY = 'ml-operator/envoy-gateway'
const TAG = MODULE.version
const BINARY = '/usr/local/bin/envoy-gateway'

/** Values of the chart, whose own file of values is a template. */
const values = {
  'deployment.envoyGateway.image': { repository: REPOSITORY, tag: TAG },
  'global.images.envoyGateway.pullPolicy': 'IfNotPresent',
  'global.images.envoyProxy.image': ENVOY_IMAGE,
  'config.envoyGateway.envoyProxy.provider': {
    type: 'Kubernetes',
    kubernetes: { envoyService: { type: 'ClusterIP' } },
  },
  'topologyInjector.enabled': false,
}

/**
 * Envoy Gateway by its own chart: its controller is a pod, and starts an Envoy for each Gateway. It counts the requests of a whole
 * rule, so models are judged by the series of their servers.
 */
export async function envoyGatewayPlane({ plane, node }: Cluster): Promise<DataPlane> {
  const [module, binaries] = [await moduleDirectory(MODULE), await provideBinaries([envoyGateway])]
  const controller = {
    name: `${REPOSITORY}:${TAG}`,
    packages: ['libc6'],
    files: { [BINARY]: { copyOf: binaries.path('envoy-gateway') } },
    entrypoint: [BINARY],
  }
  for (const image of [controller, envoyImage()]) await node.load(await buildImage(image))
  const chart = join(module, 'charts', 'gateway-helm')
  await plane.kubectl('apply', '--server-side', '-f', join(chart, 'charts', 'crds', 'crds', 'generated'))
  const helm = await helmFor(4, plane.kubeconfig)
  const place = ['--namespace=envoy-gateway-system', '--create-namespace', '--skip-crds']
  const set = Object.entries(values).map(([path, value]) => `--set-json=${path}=${JSON.stringify(value)}`)
  const wait = ['--wait', '--timeout=5m']
  await helm('install', 'eg', chart, ...place, `--values=${join(chart, 'values.tmpl.yaml')}`, ...set, ...wait)
  return {
    controllerName: 'gateway.envoyproxy.io/gatewayclass-controller',
    port: 80,
    targets: [],
    serving: {},
    stop: async () => {},
  }
}
