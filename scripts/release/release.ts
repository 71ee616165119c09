/** Writes the files of a release. The same commit gives the same files, byte for byte, if the bases of the images are the same. */

import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DockerfileName } from '../../images/dockerfiles.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { packReproducibly } from '../../testenv/tarball.ts'
import { notesOf } from './changelog.ts'
import { writeChecksums } from './checksums.ts'
import { packagesIn, releaseImage, type ReleasedImage } from './images.ts'
import { installYaml } from './install-yaml.ts'
import { writeRuntimePackage } from './runtime-package.ts'
import { type DebianPackage, type Lock, sbomOf } from './sbom.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export interface ReleaseOptions {
  /** Emptied first. */
  readonly directory: string
  /** The images to build. */
  readonly images: readonly DockerfileName[]
  /** Image of the operator in install.yaml. */
  readonly operatorImage: string
  readonly changelog: string
  readonly report?: (step: string) => void
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly license: string
}

/** Returns the checksums. */
export async function writeRelease(options: ReleaseOptions): Promise<string> {
  const { directory, images, report = () => {} } = options
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const write = (name: string, content: string): Promise<void> => writeFile(join(directory, name), content)
  report('release-notes.md')
  const notes = notesOf(options.changelog, manifest.version)
  report('install.yaml')
  await write('install.yaml', await installYaml(await kubectl(), options.operatorImage))
  report('the chart')
  await packChart(join(directory, `ml-operator-${manifest.version}.tgz`))
  report('the package of the runtime')
  await packRuntime(directory)
  report('the wheel of the Python helper')
  await runCommand(['python3', join(ROOT, 'python', 'wheel_builder.py'), directory])
  const released: ReleasedImage[] = []
  for (const image of images) {
    report(`the image of the ${image}`)
    released.push(await releaseImage(image, manifest.version, directory))
  }
  await write('images.json', json(released))
  await write('release-notes.md', notes)
  report('sbom.cdx.json')
  await write('sbom.cdx.json', json(await sbom(images)))
  return writeChecksums(directory)
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

async function kubectl(): Promise<string> {
  return process.env['KUBECTL'] ?? (await provideBinaries([kubernetes])).path('kubectl')
}

/** `helm package` writes the time of the build into the archive. */
async function packChart(output: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'chart-'))
  try {
    const tar = join(scratch, 'chart.tar')
    await packReproducibly(join(ROOT, 'charts'), tar, ['--mode=u=rwX,go=rX', 'ml-operator'])
    await runCommand(['gzip', '--no-name', '--best', tar])
    await copyFile(`${tar}.gz`, output)
  } finally {
    await rm(scratch, { recursive: true })
  }
}

async function packRuntime(directory: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'runtime-'))
  try {
    await writeRuntimePackage(join(scratch, 'package'))
    await runCommand(['npm', 'pack', join(scratch, 'package'), '--silent', '--pack-destination', scratch])
    const packed = (await readdir(scratch)).filter((name) => name.endsWith('.tgz'))
    for (const name of packed) await copyFile(join(scratch, name), join(directory, name))
  } finally {
    await rm(scratch, { recursive: true })
  }
}

async function sbom(images: readonly DockerfileName[]): Promise<object> {
  const { name, version, license } = manifest
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock
  const packages: Record<string, DebianPackage[]> = {}
  for (const image of images) packages[image] = await packagesIn(image)
  return sbomOf({ name, version, license, timestamp: await commitTime(), lock, images: packages })
}

async function commitTime(): Promise<string> {
  const seconds = Number(await runCommand(['git', '-C', ROOT, 'log', '-1', '--format=%ct']))
  return new Date(seconds * 1_000).toISOString()
}
