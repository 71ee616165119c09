import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { startProgress } from './progress.ts'
import { packReproducibly } from './tarball.ts'

/** The Python version of our Debian layers, not of this machine. */
const PYTHON = '3.11'
/** Where the layer has them. */
export const WHEELS_PLACE = `usr/local/lib/python${PYTHON}/dist-packages`

/** Platform tags of wheels that work on that Debian. */
const GLIBCS = [
  'manylinux_2_31',
  'manylinux_2_28',
  'manylinux_2_27',
  'manylinux_2_24',
  'manylinux_2_17',
  'manylinux2014',
]

/** A tar of Python packages from a requirements file with versions and hashes. Nothing is built, and no package code runs. */
export async function wheelLayer(requirements: string): Promise<string> {
  const key = createHash('sha256')
    .update(JSON.stringify([WHEELS_PLACE, GLIBCS]))
    .update(readFileSync(requirements))
  const layer = join(cacheDirectory('layers'), `wheels-${key.digest('hex').slice(0, 24)}.tar`)
  await withFileLock(
    `${layer}.lock`,
    async () => void (existsSync(layer) || (await install(requirements, layer))),
    'the same layer',
  )
  return layer
}

async function install(requirements: string, layer: string): Promise<void> {
  const progress = startProgress(`fetching the Python packages of ${requirements}`)
  const work = await mkdtemp(`${layer}.`)
  try {
    const root = join(work, 'root')
    await mkdir(root)
    await runCommand([...pip(join(root, WHEELS_PLACE)), '--requirement', requirements])
    // Scripts with the path of this machine's Python.
    await rm(join(root, WHEELS_PLACE, 'bin'), { recursive: true, force: true })
    await packReproducibly(root, join(work, 'layer.tar'), ['.'])
    await rename(join(work, 'layer.tar'), layer)
    progress.done()
  } catch (error) {
    progress.done('failed')
    throw error
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function pip(target: string): string[] {
  const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64'
  const platforms = GLIBCS.map((glibc) => `--platform=${glibc}_${machine}`)
  const exact = ['--require-hashes', '--no-deps', '--only-binary=:all:', '--no-compile']
  const quiet = ['--quiet', '--disable-pip-version-check', '--root-user-action=ignore']
  const place = [`--target=${target}`, `--python-version=${PYTHON}`, '--implementation=cp', ...platforms]
  return ['python3', '-m', 'pip', 'install', ...quiet, ...exact, ...place]
}
