/** The cluster that the demo starts on this machine, recorded for the next run. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCluster } from '../../testenv/cluster.ts'
import { kubeconfigOf, registeredRuns } from '../../testenv/registry.ts'
import { tearDown } from '../../testenv/run-directory.ts'
import type { Settings } from './settings.ts'

export interface LocalCluster {
  readonly runDirectory: string
  readonly kubeconfig: string
}

const entry = ({ directory }: Settings): string => join(directory, 'cluster')

/** The recorded cluster, if it was started completely. It may not respond any more. */
export function localCluster(settings: Settings): LocalCluster | undefined {
  const runDirectory = recordedRun(settings)
  const kubeconfig = runDirectory === undefined ? undefined : kubeconfigOf(runDirectory)
  return runDirectory === undefined || kubeconfig === undefined ? undefined : { runDirectory, kubeconfig }
}

function recordedRun(settings: Settings): string | undefined {
  return existsSync(entry(settings)) ? readFileSync(entry(settings), 'utf8') : undefined
}

/** Starts a cluster. Leaves nothing behind on failure or abort. */
export async function startLocalCluster(settings: Settings, signal: AbortSignal): Promise<void> {
  const others = new Set(registeredRuns())
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  try {
    const start = startCluster({ persistent: true, metricsServer: true })
    start.catch(() => undefined)
    const { runDirectory, kubeconfig } = await Promise.race([start, aborted])
    writeFileSync(entry(settings), runDirectory)
    writeFileSync(join(runDirectory, 'cluster-ready'), kubeconfig)
  } catch (error) {
    for (const run of registeredRuns()) if (!others.has(run)) await tearDown(run)
    throw error
  }
}

/** Returns false if there was none. */
export async function removeLocalCluster(settings: Settings): Promise<boolean> {
  const runDirectory = recordedRun(settings)
  if (runDirectory === undefined) return false
  await tearDown(runDirectory)
  rmSync(entry(settings))
  return true
}
