import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { startProgress } from './progress.ts'

const SUITE = 'bookworm'

/** Excluded files: unused in containers, or different in each build. */
const EXCLUDED = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*']
const VARYING = [
  '/var/log/*',
  '/var/cache/*',
  '/var/lib/apt/lists/*',
  '/etc/machine-id',
  '/etc/resolv.conf',
  '/etc/hostname',
]

/**
 * `essential`: the packages, their dependencies, and Debian's essential packages.
 * `extract`: only the contents of these packages, without a shell.
 */
export type Variant = 'essential' | 'extract'

/** A tar of a root filesystem with these Debian packages, without files of the package manager. */
export async function debianLayer(packages: readonly string[], variant: Variant = 'essential'): Promise<string> {
  const { layer, sorted } = recipe(packages, variant)
  await withFileLock(
    `${layer}.lock`,
    async () => void (existsSync(layer) || (await bootstrap(sorted, layer, variant))),
    'the same layer',
  )
  return layer
}

/** Whether the layer is in the cache. */
export function isLayerCached(packages: readonly string[], variant: Variant = 'essential'): boolean {
  return existsSync(recipe(packages, variant).layer)
}

function recipe(packages: readonly string[], variant: Variant) {
  const sorted = [...new Set(packages)].toSorted()
  const parts = [SUITE, sorted, EXCLUDED, VARYING, ...(variant === 'essential' ? [] : [variant])]
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)
  return { sorted, layer: join(cacheDirectory('layers'), `${key}.tar`) }
}

async function bootstrap(packages: readonly string[], layer: string, variant: Variant): Promise<void> {
  const progress = startProgress(`building a root filesystem with ${packages.join(', ')}`)
  const scratch = `${layer}.${process.pid}.tar`
  try {
    await runCommand(
      [
        'mmdebstrap',
        '--mode=root',
        `--variant=${variant}`,
        `--include=${packages.join(',')}`,
        ...EXCLUDED.map((path) => `--dpkgopt=path-exclude=${path}`),
        ...VARYING.map((path) => `--customize-hook=rm -rf "$1"${path}`),
        ...(await aptOptions()),
        SUITE,
        scratch,
        ...(await aptSources()),
      ],
      { env: { ...process.env, SOURCE_DATE_EPOCH: '0' } },
    )
    await rename(scratch, layer)
    progress.done()
  } catch (error) {
    progress.done('failed')
    throw error
  } finally {
    await rm(scratch, { force: true })
  }
}

/** The package sources of this machine. */
async function aptSources(): Promise<string[]> {
  const directory = '/etc/apt/sources.list.d'
  const entries = existsSync(directory) ? await readdir(directory) : []
  const files = entries.filter((name) => /^debian.*\.(list|sources)$/.test(name)).map((name) => join(directory, name))
  return [...(existsSync('/etc/apt/sources.list') ? ['/etc/apt/sources.list'] : []), ...files]
}

/** The apt options of this machine to reach them, such as a proxy. */
async function aptOptions(): Promise<string[]> {
  const proxy = await runCommand(['apt-config', 'dump', '--format=%f "%v";%n', 'Acquire'])
  return proxy
    .split('\n')
    .filter((line) => /^Acquire::https?::/.test(line))
    .map((line) => `--aptopt=${line}`)
}
