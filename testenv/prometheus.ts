/**
 * Prometheus and promtool from the Debian package, unpacked into the user's cache: nothing is installed, and no service is
 * started.
 */

import { existsSync, globSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { startProgress } from './progress.ts'

export interface PrometheusBinaries {
  readonly prometheus: string
  readonly promtool: string
}

/** Why this machine cannot provide them; empty when it can. */
export function missingForPrometheus(): string[] {
  if (existsSync(directory())) return []
  return ['/usr/bin/apt-get', '/usr/bin/dpkg-deb'].filter((file) => !existsSync(file))
}

export async function providePrometheus(): Promise<PrometheusBinaries> {
  const target = directory()
  await withFileLock(
    `${target}.lock`,
    async () => void (existsSync(target) || (await fetchPackage(target))),
    'Prometheus',
  )
  const bin = join(target, 'usr', 'bin')
  return { prometheus: join(bin, 'prometheus'), promtool: join(bin, 'promtool') }
}

const directory = (): string => join(cacheDirectory('prometheus'), process.arch)

async function fetchPackage(target: string): Promise<void> {
  const progress = startProgress('fetching the package prometheus', 'about 20 MB')
  const scratch = await mkdtemp(join(cacheDirectory('prometheus'), '.fetch-'))
  try {
    await download(scratch)
    const [archive = ''] = globSync('*.deb', { cwd: scratch })
    await runCommand(['dpkg-deb', '-x', join(scratch, archive), join(scratch, 'content')])
    await rename(join(scratch, 'content'), target)
    progress.done()
  } catch (error) {
    progress.done('failed')
    throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** The lists of packages may be missing or old. */
async function download(scratch: string): Promise<void> {
  const fetchIt = () => runCommand(['sh', '-c', 'cd "$0" && apt-get download -qq prometheus', scratch])
  await fetchIt().catch(async () => {
    await runCommand(['apt-get', 'update', '-qq'])
    await fetchIt()
  })
}
