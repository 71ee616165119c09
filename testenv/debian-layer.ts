import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { startProgress } from './progress.ts'

const SUITE = 'bookworm'

/** What no container reads, and what would make two builds differ. */
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*']
const VARYING = [
  '/var/log/*',
  '/var/cache/*',
  '/var/lib/apt/lists/*',
  '/etc/machine-id',
  '/etc/resolv.conf',
  '/etc/hostname',
]

/** A tar of a root filesystem with these Debian packages, what they depend on, and no package manager's leftovers. */
export async function debianLayer(packages: readonly string[]): Promise<string> {
  const sorted = [...new Set(packages)].toSorted()
  const key = createHash('sha256')
    .update(JSON.stringify([SUITE, sorted, LEFT_OUT, VARYING]))
    .digest('hex')
    .slice(0, 24)
  const layer = join(cacheDirectory('layers'), `${key}.tar`)
  await withFileLock(
    `${layer}.lock`,
    async () => void (existsSync(layer) || (await bootstrap(sorted, layer))),
    'the same layer',
  )
  return layer
}

async function bootstrap(packages: readonly string[], layer: string): Promise<void> {
  const progress = startProgress(`making a root filesystem with ${packages.join(', ')}`)
  const scratch = `${layer}.${process.pid}.tar`
  try {
    await runCommand(
      [
        'mmdebstrap',
        '--mode=root',
        '--variant=essential',
        `--include=${packages.join(',')}`,
        ...LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`),
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

/** The machine's own package sources: whatever mirror its administrator chose. */
async function aptSources(): Promise<string[]> {
  const directory = '/etc/apt/sources.list.d'
  const entries = existsSync(directory) ? await readdir(directory) : []
  const files = entries.filter((name) => /^debian.*\.(list|sources)$/.test(name)).map((name) => join(directory, name))
  return [...(existsSync('/etc/apt/sources.list') ? ['/etc/apt/sources.list'] : []), ...files]
}

/** And its own way to reach them, such as a proxy. */
async function aptOptions(): Promise<string[]> {
  const proxy = await runCommand(['apt-config', 'dump', '--format=%f "%v";%n', 'Acquire'])
  return proxy
    .split('\n')
    .filter((line) => /^Acquire::https?::/.test(line))
    .map((line) => `--aptopt=${line}`)
}
