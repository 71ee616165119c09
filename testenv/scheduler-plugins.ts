/** The real scheduler-plugins on a control plane: the scheduler with the plugin coscheduling, and the controller of PodGroups. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { schedulerPlugins } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { Component, reportExit } from './component.ts'
import type { ControlPlane } from './control-plane.ts'
import { installCrds } from './crds.ts'
import { answersOk } from './http-probe.ts'
import { freePorts } from './ports.ts'
import { subdirectory } from './run-directory.ts'
import type { GangSchedulerProcesses } from './volcano.ts'

const CRDS = ['podgroups.scheduling.x-k8s.io', 'elasticquotas.scheduling.x-k8s.io']
const SCHEDULER = 'scheduler-plugins-scheduler'
const CONTROLLER = 'scheduler-plugins-controller'

export async function startSchedulerPlugins(plane: ControlPlane): Promise<GangSchedulerProcesses> {
  const binaries = await provideBinaries([schedulerPlugins])
  const kubeconfig = plane.kubeconfigFor({ name: 'scheduler-plugins', organization: 'system:masters' })
  const [port = 0, probePort = 0] = await freePorts(2)
  const component = (name: string, flags: readonly string[], health: string): Component => {
    const command = [binaries.path(name), ...flags]
    return new Component(plane.runDirectory, { name, command, ready: () => answersOk(health) }, reportExit)
  }
  const install = (): Promise<void> => installCrds(plane.kubectl, CRDS)
  await install()
  const schedulerFlags = [
    `--config=${writeConfig(plane, kubeconfig)}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--cert-dir=${subdirectory(plane.runDirectory, SCHEDULER)}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
  ]
  const controllerFlags = [`--kubeconfig=${kubeconfig}`, '--metricsAddr=0', `--probeAddr=127.0.0.1:${probePort}`]
  return {
    install,
    scheduler: await component(SCHEDULER, schedulerFlags, `https://127.0.0.1:${port}/healthz`).start(),
    controller: await component(CONTROLLER, controllerFlags, `http://127.0.0.1:${probePort}/healthz`).start(),
  }
}

/** As scheduler-plugins publishes it for coscheduling, under the name that its chart gives the scheduler. */
function writeConfig(plane: ControlPlane, kubeconfig: string): string {
  const enabled = [{ name: 'Coscheduling' }]
  const plugins = { multiPoint: { enabled }, queueSort: { enabled, disabled: [{ name: '*' }] } }
  const pluginConfig = [{ name: 'Coscheduling', args: { permitWaitingTimeSeconds: 10 } }]
  const file = join(plane.runDirectory, `${SCHEDULER}.json`)
  const config = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig },
    profiles: [{ schedulerName: SCHEDULER, plugins, pluginConfig }],
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}
