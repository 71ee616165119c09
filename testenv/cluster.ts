/**
 * A control plane with a node, started and stopped as one. Nothing is left behind after `stop()`, Ctrl-C, or a crash of the
 * caller.
 */

import { dirname } from 'node:path'

import { controlPlaneAssets, metricsServer, nodeAssets } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { reportExit } from './component.ts'
import { type ControlPlane, launchControlPlane } from './control-plane.ts'
import { startMachine } from './machine.ts'
import { startMetricsServer } from './metrics-server.ts'
import { Node } from './node.ts'
import { type RunOptions, startRun } from './run.ts'
import { startStorage } from './storage.ts'

export interface ClusterOptions extends RunOptions {
  /** How many `nvidia.com/gpu` the node advertises. */
  readonly gpus?: number
  /** Serve `metrics.k8s.io`, so that `kubectl top` works and HPAs scale. */
  readonly metricsServer?: boolean
  readonly onExit?: (error: Error) => void
}

export interface Cluster {
  readonly plane: ControlPlane
  readonly node: Node
  readonly kubeconfig: string
  readonly runDirectory: string
  stop(): Promise<void>
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const assets = [...controlPlaneAssets, ...nodeAssets, ...(options.metricsServer ? [metricsServer] : [])]
  const binaries = await provideBinaries(assets)
  const onExit = options.onExit ?? reportExit
  return startRun(options, async (runDirectory) => {
    const keep = assets.map((asset) => dirname(binaries.path(asset.binaries[0] ?? '')))
    const machine = await startMachine(runDirectory, keep)
    const { hostAddress: address, podCidr, serviceCidr } = machine
    const plane = await launchControlPlane(runDirectory, binaries, { address, podCidr, serviceCidr, onExit })
    const node = new Node(plane, machine, binaries, onExit)
    await node.start()
    const extras = [await startStorage(plane, onExit)]
    if (options.metricsServer) extras.push(await startMetricsServer(plane, machine, binaries, onExit))
    if (options.gpus !== undefined) await node.advertiseGpus(options.gpus)
    const stop = async (): Promise<void> => {
      for (const extra of extras) await extra.kill()
      await node.kill()
      await machine.holder.kill()
      await plane.stop()
    }
    return { plane, node, kubeconfig: plane.kubeconfig, runDirectory, stop }
  })
}
