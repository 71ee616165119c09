/**
 * The CRDs of other projects, as they publish them: from Go modules of a pinned version, verified by the digest below, and stored
 * in the user's cache, one file per kind.
 */

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { withFileLock } from './file-lock.ts'
import { type GoModule, moduleDirectory } from './go-module.ts'
import type { Kubectl } from './kubectl.ts'
import { startProgress } from './progress.ts'

interface Source extends GoModule {
  /** The module's files with CRDs, and the names of the wanted ones. */
  readonly files: Readonly<Record<string, readonly string[]>>
}

export const GATEWAY_API: GoModule = {
  module: 'sigs.k8s.io/gateway-api',
  version: 'v1.6.3',
  sum: 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
}

const SOURCES: readonly Source[] = [
  {
    module: 'istio.io/api',
    version: 'v1.31.1',
    sum: 'h1:5Yb5ihcz4YQsCkciusK7DnFpBMwRB6EFWeUKH1Atuyk=',
    files: {
      'kubernetes/customresourcedefinitions.gen.yaml': [
        'destinationrules.networking.istio.io',
        'virtualservices.networking.istio.io',
      ],
    },
  },
  {
    ...GATEWAY_API,
    files: {
      'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml': ['httproutes.gateway.networking.k8s.io'],
    },
  },
  {
    module: 'volcano.sh/volcano',
    version: 'v1.15.0',
    sum: 'h1:dW8hW/FPDqwcJ1GxGfpR/9qToH1t3+ySn+oaiEMfpm4=',
    files: Object.fromEntries(
      [
        'podgroups.scheduling',
        'queues.scheduling',
        'commands.bus',
        'numatopologies.nodeinfo',
        'hypernodes.topology',
      ].map((kind) => {
        const [plural = '', group = ''] = kind.split('.')
        return [`config/crd/volcano/bases/${group}.volcano.sh_${plural}.yaml`, [`${kind}.volcano.sh`]]
      }),
    ),
  },
  {
    module: 'sigs.k8s.io/scheduler-plugins',
    version: 'v0.34.7',
    sum: 'h1:GENSA4rKpCKBrPvNSo2AV2QHU7j3a6LT14kNlHhXfeg=',
    files: {
      'config/crd/bases/scheduling.x-k8s.io_podgroups.yaml': ['podgroups.scheduling.x-k8s.io'],
      'config/crd/bases/scheduling.x-k8s.io_elasticquotas.yaml': ['elasticquotas.scheduling.x-k8s.io'],
    },
  },
  {
    module: 'sigs.k8s.io/kueue',
    version: 'v0.19.1',
    sum: 'h1:5zAYwG/F8z19noTwCIHsTEckttrThAVJvaskWMT6pYg=',
    files: Object.fromEntries(
      ['workloads', 'resourceflavors', 'workloadpriorityclasses'].map((kind) => [
        `config/components/crd/bases/kueue.x-k8s.io_${kind}.yaml`,
        [`${kind}.kueue.x-k8s.io`],
      ]),
    ),
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: Object.fromEntries(
      ['servicemonitors', 'podmonitors', 'prometheusrules'].map((kind) => [
        `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
        [`${kind}.monitoring.coreos.com`],
      ]),
    ),
  },
]

/**
 * The path of the file with a CRD, such as `httproutes.gateway.networking.k8s.io`, from the first source that has it: the
 * directory `KUBE_ASSETS`, the user's cache, the module.
 */
export async function provideCrd(name: string): Promise<string> {
  const source = SOURCES.find(({ files }) => Object.values(files).flat().includes(name))
  if (!source) throw new Error(`no module is known for the CRD ${name}: add it to testenv/crds.ts`)
  const directory = directoryOf(source)
  const file = `${name}.yaml`
  const available = [process.env['KUBE_ASSETS'] ?? directory, directory].find((place) => existsSync(join(place, file)))
  if (available !== undefined) return join(available, file)
  await withFileLock(
    `${directory}.lock`,
    async () => void (existsSync(join(directory, file)) || (await fetchSource(source, directory))),
    source.module,
  )
  return join(directory, file)
}

/** Fetches all CRDs into the cache, for later offline use. */
export async function provideCrds(): Promise<void> {
  for (const { files } of SOURCES) for (const name of Object.values(files).flat()) await provideCrd(name)
}

/** Installs CRDs, and waits until their kinds are served. */
export async function installCrds(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  for (const name of names) await kubectl('apply', '--server-side', '--force-conflicts', '-f', await provideCrd(name))
  await kubectl('wait', '--for=condition=Established', '--timeout=60s', ...names.map((name) => `crd/${name}`))
}

function directoryOf({ module, version }: Source): string {
  return join(cacheDirectory('definitions'), `${module.replaceAll('/', '_')}@${version}`)
}

async function fetchSource(source: Source, directory: string): Promise<void> {
  const progress = startProgress(`fetching ${source.module} ${source.version}`, 'about 5 MB')
  const scratch = await mkdtemp(join(dirname(directory), `.${basename(directory)}-`))
  try {
    const module = await moduleDirectory(source)
    for (const [file, names] of Object.entries(source.files)) {
      const documents = (await readFile(join(module, file), 'utf8')).split(/^---$/m)
      for (const name of names) await writeFile(join(scratch, `${name}.yaml`), crdIn(documents, name))
    }
    await rm(directory, { recursive: true, force: true })
    await rename(scratch, directory)
    progress.done()
  } catch (error) {
    progress.done('failed')
    throw new Error(`${advice(source)}: ${String(error)}`, { cause: error })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function advice({ module, version, files }: Source): string {
  const names = Object.values(files).flat()
  return `${module} ${version} cannot be fetched: install Go, or put ${names.map((name) => `${name}.yaml`).join(' and ')} into the directory that KUBE_ASSETS names`
}

function crdIn(documents: readonly string[], name: string): string {
  const found = documents.find((text) => text.includes(`\n  name: ${name}\n`))
  if (found === undefined) throw new Error(`${name} is not in the file that testenv/crds.ts names`)
  return found
}
