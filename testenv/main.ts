/** The command behind `make setup`, `make cluster`, `make cluster-down` and `make cleanup-test-e2e`. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { abandonedRuns } from './abandoned.ts'
import { controlPlaneAssets, kubernetes, nodeAssets } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { startCluster } from './cluster.ts'
import { startControlPlane } from './control-plane.ts'
import { provideCrds } from './crds.ts'
import { elapsed } from './progress.ts'
import { missingForPrometheus, providePrometheus } from './prometheus.ts'
import { kubeconfigOf, registeredRuns } from './registry.ts'
import { installSystemPackages, missingForNode } from './requirements.ts'
import { tearDown } from './run-directory.ts'

const USAGE = `usage: testenv/main.ts COMMAND

  setup   install missing system packages, build or find the binaries
  up      start a cluster and print how to use it  [--gpus N] [--metrics-server] [--control-plane]
  down    remove every cluster that 'up' started
  clean   remove clusters that interrupted test runs have left
`

async function setup(): Promise<void> {
  await installSystemPackages()
  const missing = missingForNode()
  if (missing.length > 0) warnWithoutNode(missing)
  await provideBinaries([...controlPlaneAssets, ...(missing.length === 0 ? nodeAssets : [])])
  await provideCrds()
  if (missingForPrometheus().length === 0) await providePrometheus()
}

interface UpOptions {
  readonly gpus: number | undefined
  readonly metricsServer: boolean
  readonly controlPlaneOnly: boolean
}

async function up({ gpus, metricsServer, controlPlaneOnly }: UpOptions): Promise<void> {
  const running = registeredRuns()
    .map(kubeconfigOf)
    .find((path) => path !== undefined)
  if (running !== undefined) return printUsage(running, 'A cluster is running already.')
  await setup()
  const began = Date.now()
  const missing = missingForNode()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void down().then(() => process.exit(130)))
  const options = { persistent: true, metricsServer, ...(gpus === undefined ? {} : { gpus }) }
  const { kubeconfig, runDirectory } =
    controlPlaneOnly || missing.length > 0 ? await startControlPlane(options) : await startCluster(options)
  writeFileSync(join(runDirectory, 'cluster-ready'), kubeconfig)
  await printUsage(kubeconfig, `Kubernetes is ready after ${elapsed(Date.now() - began)}.`)
}

async function printUsage(kubeconfig: string, headline: string): Promise<void> {
  const kubectl = (await provideBinaries([kubernetes])).path('kubectl')
  process.stdout.write(`${headline}

  export KUBECONFIG=${kubeconfig}
  alias kubectl=${kubectl}
  kubectl get nodes

  make cluster-down    removes it
`)
}

async function down(): Promise<void> {
  const runs = registeredRuns()
  for (const runDirectory of runs) await tearDown(runDirectory)
  process.stdout.write(runs.length === 0 ? 'No cluster is running.\n' : `Removed ${runs.length} cluster(s).\n`)
}

async function clean(): Promise<void> {
  const runs = abandonedRuns()
  for (const runDirectory of runs) await tearDown(runDirectory)
  process.stdout.write(runs.length === 0 ? 'Nothing was left.\n' : `Removed ${runs.length} abandoned cluster(s).\n`)
}

function warnWithoutNode(missing: readonly string[]): void {
  process.stderr.write(
    `This machine can run the control plane, but no node: pods will not run. Missing:\n${missing.map((line) => `  - ${line}\n`).join('')}`,
  )
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { gpus: { type: 'string' }, 'metrics-server': { type: 'boolean' }, 'control-plane': { type: 'boolean' } },
})
switch (positionals[0]) {
  case 'setup':
    await setup()
    break
  case 'up':
    await up({
      gpus: values.gpus === undefined ? undefined : Number(values.gpus),
      metricsServer: values['metrics-server'] ?? false,
      controlPlaneOnly: values['control-plane'] ?? false,
    })
    break
  case 'down':
    await down()
    break
  case 'clean':
    await clean()
    break
  case undefined:
  default:
    process.stderr.write(USAGE)
    process.exitCode = 2
}
