/** The cluster that the demo starts on this machine, remembered from one run to the next. */

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

/** The one that is there, whole; whether it still answers is another question. */
export function localCluster(settings: Settings): LocalCluster | undefined {
  const runDirectory = remembered(settings)
  const kubeconfig = runDirectory === undefined ? undefined : kubeconfigOf(runDirectory)
  return runDirectory === undefined || kubeconfig === undefined ? undefined : { runDirectory, kubeconfig }
}

function remembered(settings: Settings): string | undefined {
  return existsSync(entry(settings)) ? readFileSync(entry(settings), 'utf8') : undefined
}

/** Either it comes up whole, or nothing is left of it, also when the signal ends the wait. */
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

/** False if there was none. */
export async function removeLocalCluster(settings: Settings): Promise<boolean> {
  const runDirectory = remembered(settings)
  if (runDirectory === undefined) return false
  await tearDown(runDirectory)
  rmSync(entry(settings))
  return true
}
