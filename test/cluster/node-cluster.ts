/**
 * The cluster with a node that the files of `test/node` share. The test runner sets its run directory in `TEST_NODE`; a file
 * that runs alone starts its own.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'

import { controlPlaneAssets, nodeAssets } from '../../testenv/assets.ts'
import { type Binaries, provideBinaries } from '../../testenv/binaries.ts'
import { type Cluster, startCluster } from '../../testenv/cluster.ts'
import { loadImage } from '../../testenv/container-runtime.ts'
import type { Image } from '../../testenv/image.ts'
import { type Kubectl, kubectlFor } from '../../testenv/kubectl.ts'

export interface NodeCluster {
  readonly kubeconfig: string
  readonly kubectl: Kubectl
  readonly binaries: Binaries
  readonly runDirectory: string
  load(image: Image): Promise<void>
}

let shared: Promise<NodeCluster> | undefined
let own: Cluster | undefined

// At the top level: a hook registered inside another hook would run when that one ends.
after(() => own?.stop())

export function nodeCluster(): Promise<NodeCluster> {
  shared ??= connect()
  return shared
}

async function connect(): Promise<NodeCluster> {
  const binaries = await provideBinaries([...controlPlaneAssets, ...nodeAssets])
  const runDirectory = process.env['TEST_NODE'] ?? (await startOwn())
  const kubeconfig = join(runDirectory, 'kubeconfig', 'admin')
  return {
    kubeconfig,
    binaries,
    runDirectory,
    kubectl: kubectlFor(binaries, kubeconfig),
    load: (image) => loadImage(binaries, runDirectory, image),
  }
}

async function startOwn(): Promise<string> {
  own = await startCluster({ gpus: 1, metricsServer: true })
  return own.runDirectory
}

/** Creates a namespace that enforces Pod Security `restricted`. Returns kubectl for it. Deleted after the test. */
export async function restrictedNamespace(t: TestContext): Promise<Kubectl> {
  const { kubectl } = await nodeCluster()
  const name = `test-${randomBytes(4).toString('hex')}`
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await kubectl.with([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }], 'create')
  t.after(() => kubectl('delete', 'namespace', name, '--wait=false'))
  await kubectl('wait', '-n', name, '--for=create', 'serviceaccount/default', '--timeout=60s')
  return Object.assign((...args: string[]) => kubectl('-n', name, ...args), {
    with: (objects: readonly object[], ...args: string[]) => kubectl.with(objects, '-n', name, ...args),
  })
}
