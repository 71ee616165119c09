/** A real Traefik on this machine as a controller of the Gateway API: one process that reads the API server and carries the requests. */

import { traefik } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { Component, reportExit } from './component.ts'
import type { ControlPlane } from './control-plane.ts'
import { answersOk } from './http-probe.ts'
import { freePorts } from './ports.ts'

export interface Traefik {
  /** Listeners of Gateways must have this port. */
  readonly port: number
  /** Where Prometheus scrapes. */
  readonly metricsAddress: string
  stop(): Promise<void>
}

const NAME = 'traefik'
const ADDRESS = '127.0.0.1'

/** The address becomes that of every Gateway. */
export async function startTraefik(plane: ControlPlane): Promise<Traefik> {
  const binaries = await provideBinaries([traefik])
  const [port = 0, ownPort = 0] = await freePorts(2)
  const flags = [
    `entrypoints.web.address=${ADDRESS}:${port}`,
    `entrypoints.traefik.address=${ADDRESS}:${ownPort}`,
    'providers.kubernetesgateway=true',
    `providers.kubernetesgateway.statusaddress.ip=${ADDRESS}`,
    'ping=true',
    'metrics.prometheus=true',
    'global.checknewversion=false',
    'global.sendanonymoususage=false',
  ]
  const spec = {
    name: NAME,
    command: [binaries.path(NAME), ...flags.map((flag) => `--${flag}`)],
    env: { KUBECONFIG: plane.kubeconfigFor({ name: NAME, organization: 'system:masters' }) },
    ready: () => answersOk(`http://${ADDRESS}:${ownPort}/ping`),
  }
  const component = await new Component(plane.runDirectory, spec, reportExit).start()
  return { port, metricsAddress: `${ADDRESS}:${ownPort}`, stop: () => component.stop() }
}
