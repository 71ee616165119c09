/** The real Volcano on a control plane: its scheduler with the default configuration, and the controllers of PodGroups and queues. */

import { volcano } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { Component, reportExit } from './component.ts'
import type { ControlPlane } from './control-plane.ts'
import { installCrds } from './crds.ts'
import { answersOk } from './http-probe.ts'
import { freePorts } from './ports.ts'

export interface GangSchedulerProcesses {
  readonly scheduler: Component
  readonly controller: Component
  /** Installs the CRDs, again if they were removed. */
  install(): Promise<void>
}

const CRDS = [
  'podgroups.scheduling.volcano.sh',
  'queues.scheduling.volcano.sh',
  'commands.bus.volcano.sh',
  'numatopologies.nodeinfo.volcano.sh',
  'hypernodes.topology.volcano.sh',
]

export async function startVolcano(plane: ControlPlane): Promise<GangSchedulerProcesses> {
  const binaries = await provideBinaries([volcano])
  const kubeconfig = plane.kubeconfigFor({ name: 'volcano', organization: 'system:masters' })
  const ports = await freePorts(2)
  const component = (name: string, port: number | undefined, flags: readonly string[]): Component => {
    const address = `127.0.0.1:${port}`
    const common = [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--enable-healthz',
      `--healthz-address=${address}`,
    ]
    const command = [binaries.path(name), ...common, ...flags]
    const env = { DEBUG_SOCKET_DIR: plane.runDirectory }
    const ready = (): Promise<boolean> => answersOk(`http://${address}/healthz`)
    return new Component(plane.runDirectory, { name, command, env, ready }, reportExit)
  }
  const install = (): Promise<void> => installCrds(plane.kubectl, CRDS)
  await install()
  return {
    install,
    scheduler: await component('volcano-scheduler', ports[0], ['--cache-dumper=false']).start(),
    controller: await component('volcano-controller-manager', ports[1], [
      '--controllers=pg-controller,queue-controller',
    ]).start(),
  }
}
