/**
 * The definitions of other products' kinds, as those products publish them: out of Go modules of a pinned version, checked
 * against the digest below, and kept in the user's cache, one file for each kind.
 */

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { startProgress } from './progress.ts'

interface Source {
  readonly module: string
  readonly version: string
  /** As `go.sum` has it. */
  readonly sum: string
  /** Where the module keeps its definitions, and which of them are wanted. */
  readonly files: Readonly<Record<string, readonly string[]>>
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
    module: 'sigs.k8s.io/gateway-api',
    version: 'v1.6.3',
    sum: 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
    files: {
      'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml': ['httproutes.gateway.networking.k8s.io'],
    },
  },
]

/**
 * The path of the file with a definition, named as the definition is: `httproutes.gateway.networking.k8s.io`. The first
 * that has it: the directory `KUBE_ASSETS`, the user's cache, the module.
 */
export async function provideDefinition(name: string): Promise<string> {
  const source = SOURCES.find(({ files }) => Object.values(files).flat().includes(name))
  if (!source) throw new Error(`no module is known to define ${name}: add it to testenv/definitions.ts`)
  const directory = directoryOf(source)
  const file = `${name}.yaml`
  const atHand = [process.env['KUBE_ASSETS'] ?? directory, directory].find((place) => existsSync(join(place, file)))
  if (atHand !== undefined) return join(atHand, file)
  await withFileLock(
    `${directory}.lock`,
    async () => void (existsSync(join(directory, file)) || (await fetchSource(source, directory))),
    source.module,
  )
  return join(directory, file)
}

/** All of them, for who is offline later. */
export async function provideDefinitions(): Promise<void> {
  for (const { files } of SOURCES) for (const name of Object.values(files).flat()) await provideDefinition(name)
}

function directoryOf({ module, version }: Source): string {
  return join(cacheDirectory('definitions'), `${module.replaceAll('/', '_')}@${version}`)
}

async function fetchSource(source: Source, directory: string): Promise<void> {
  const progress = startProgress(`fetching ${source.module} ${source.version}`, 'about 5 MB')
  const scratch = await mkdtemp(join(dirname(directory), `.${basename(directory)}-`))
  try {
    const module = await download(source)
    for (const [file, names] of Object.entries(source.files)) {
      const documents = (await readFile(join(module, file), 'utf8')).split(/^---$/m)
      for (const name of names) await writeFile(join(scratch, `${name}.yaml`), definitionIn(documents, name))
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

/** The directory of the module, in Go's own cache. */
async function download({ module, version, sum }: Source): Promise<string> {
  const answer = await runCommand(['go', 'mod', 'download', '-json', `${module}@${version}`], {
    env: { ...process.env, GOWORK: 'off' },
  })
  const { Dir, Sum } = JSON.parse(answer) as { readonly Dir: string; readonly Sum: string }
  if (Sum !== sum) throw new Error(`${module}@${version} has the sum ${Sum}, expected ${sum}`)
  return Dir
}

function advice({ module, version, files }: Source): string {
  const names = Object.values(files).flat()
  return `${module} ${version} cannot be fetched: install Go, or put ${names.map((name) => `${name}.yaml`).join(' and ')} into the directory that KUBE_ASSETS names`
}

function definitionIn(documents: readonly string[], name: string): string {
  const found = documents.find((text) => text.includes(`\n  name: ${name}\n`))
  if (found === undefined) throw new Error(`${name} is not where testenv/definitions.ts says`)
  return found
}
