/**
 * Builds container images without a registry or a daemon: a root filesystem from Debian packages, additional files, a command.
 * The result is an archive that any container runtime can import.
 *
 * Archives are cached by content: the same packages, files and configuration give the same archive, byte for byte.
 */

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { cacheDirectory } from './cache-directory.ts'
import { debianLayer } from './debian-layer.ts'
import { packReproducibly } from './tarball.ts'
import { wheelLayer } from './wheel-layer.ts'

export type ImageFile =
  | { readonly text: string; readonly mode?: number }
  | { readonly copyOf: string; readonly mode?: number }
  | { readonly linkTo: string }

export interface ImageSpec {
  /** The reference that pods name, such as `testenv/trainer:1`. */
  readonly name: string
  /** Debian packages, with their dependencies. Without them, the image has only its files. */
  readonly packages?: readonly string[]
  /** Debian packages to unpack without dependencies, for an image without a shell. Instead of `packages`. */
  readonly libraries?: readonly string[]
  /** A pip requirements file with versions and hashes, for the `python3` of `packages`. */
  readonly wheels?: string
  /** By absolute path inside the image. */
  readonly files?: Readonly<Record<string, ImageFile>>
  /** The entrypoint; the pod's `args` or the command are its arguments. */
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
  /** Numeric, so that `runAsNonRoot` can be verified. Default: 65532. */
  readonly user?: string
}

export interface Image {
  readonly name: string
  readonly archive: string
}

/** Part of every cache key; increased when the build changes. */
const BUILDER = 2

/** Characters of the key in an archive's name. */
const KEY_LENGTH = 24

/** Archives of one name that are kept in the cache. */
const KEPT = 3

export async function buildImage(spec: ImageSpec): Promise<Image> {
  return { name: spec.name, archive: await buildImages([spec]) }
}

/** One archive with several images. Shared layers are contained and loaded once. */
export async function buildImages(specs: readonly ImageSpec[]): Promise<string> {
  const archive = archiveOf(specs)
  if (existsSync(archive)) return archive
  await buildArchive(specs, archive)
  await removeOlder(slugOf(specs))
  return archive
}

/** Where the archive is, or will be. */
export function archiveOf(specs: readonly ImageSpec[]): string {
  const keys = specs.map(contentKey).join(' ')
  const key = specs.length === 1 ? keys : createHash('sha256').update(keys).digest('hex').slice(0, KEY_LENGTH)
  return join(cacheDirectory('images'), `${slugOf(specs)}-${key}.tar`)
}

function slugOf(specs: readonly ImageSpec[]): string {
  return specs.map(({ name }) => name.replaceAll(/[^a-z0-9.]+/g, '-')).join('+')
}

/** Removes old archives: an image of our own code is rebuilt with every change. */
async function removeOlder(slug: string): Promise<void> {
  const directory = cacheDirectory('images')
  const ofThatName = (name: string): boolean => name.replace(/-[0-9a-f]{24}\.tar$/, '') === slug
  const archives = (await readdir(directory)).filter(ofThatName).map((name) => join(directory, name))
  const ages = await Promise.all(archives.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })))
  const older = ages.toSorted((one, other) => other.at - one.at).slice(KEPT)
  for (const { path } of older) await rm(path, { force: true })
}

function contentKey(spec: ImageSpec): string {
  const hash = createHash('sha256').update(JSON.stringify([BUILDER, spec]))
  if (spec.wheels !== undefined) hash.update(readFileSync(spec.wheels))
  for (const file of Object.values(spec.files ?? {})) {
    if ('copyOf' in file) hash.update(readFileSync(file.copyOf))
  }
  return hash.digest('hex').slice(0, KEY_LENGTH)
}

async function buildArchive(specs: readonly ImageSpec[], archive: string): Promise<void> {
  const work = await mkdtemp(join(cacheDirectory('images'), '.build-'))
  try {
    const stage = join(work, 'stage')
    await mkdir(stage)
    const manifest: ManifestEntry[] = []
    for (const [index, spec] of specs.entries()) manifest.push(await stageImage(spec, stage, join(work, String(index))))
    await pack(stage, manifest, join(work, 'image.tar'))
    await rename(join(work, 'image.tar'), archive)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function layersOf(spec: ImageSpec, work: string): Promise<string[]> {
  const layers: string[] = []
  if (spec.packages !== undefined) layers.push(await debianLayer(spec.packages))
  if (spec.libraries !== undefined) layers.push(await debianLayer(spec.libraries, 'extract'))
  if (spec.wheels !== undefined) layers.push(await wheelLayer(spec.wheels))
  if (spec.files === undefined) return layers
  return [...layers, await filesLayer(spec.packages === undefined ? spec.files : mergedIntoUsr(spec.files), work)]
}

async function filesLayer(files: Readonly<Record<string, ImageFile>>, work: string): Promise<string> {
  const root = join(work, 'root')
  for (const [path, file] of Object.entries(files)) await layFile(join(root, path), file)
  const layer = `${work}.tar`
  await packReproducibly(root, layer, ['.'])
  return layer
}

/** Debian's `/bin` and others are links into `/usr`; a directory in an upper layer would hide their targets. */
function mergedIntoUsr(files: Readonly<Record<string, ImageFile>>): Record<string, ImageFile> {
  const entries = Object.entries(files)
  return Object.fromEntries(
    entries.map(([path, file]) => [path.replace(/^\/(bin|sbin|lib|lib64)\//, '/usr/$1/'), file]),
  )
}

async function layFile(target: string, file: ImageFile): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  if ('linkTo' in file) return symlink(file.linkTo, target)
  if ('text' in file) await writeFile(target, file.text)
  else await copyFile(file.copyOf, target)
  await chmod(target, file.mode ?? ('copyOf' in file ? statSync(file.copyOf).mode & 0o777 : 0o644))
}

/** An entry in the manifest of the `docker save` format. */
interface ManifestEntry {
  readonly Config: string
  readonly RepoTags: readonly string[]
  readonly Layers: readonly string[]
}

/** Stages the parts of an image. A layer that exists already is the same one. */
async function stageImage(spec: ImageSpec, stage: string, work: string): Promise<ManifestEntry> {
  const layers = await layersOf(spec, work)
  const digests = await Promise.all(layers.map(sha256))
  const names = digests.map((digest) => `${digest}.tar`)
  for (const [index, layer] of layers.entries()) {
    const staged = join(stage, names[index] ?? '')
    // Not hard links: creating one changes the file for a process that packs the same layer at the same time.
    if (!existsSync(staged)) await symlink(layer, staged)
  }
  const config = JSON.stringify(imageConfig(spec, digests))
  const configName = `${createHash('sha256').update(config).digest('hex')}.json`
  await writeFile(join(stage, configName), config)
  return { Config: configName, RepoTags: [spec.name], Layers: names }
}

async function pack(stage: string, manifest: readonly ManifestEntry[], archive: string): Promise<void> {
  await writeFile(join(stage, 'manifest.json'), JSON.stringify(manifest))
  const parts = manifest.flatMap(({ Config, Layers }) => [Config, ...Layers])
  await packReproducibly(stage, archive, ['--dereference', 'manifest.json', ...new Set(parts)])
}

function imageConfig(spec: ImageSpec, digests: readonly string[]): object {
  return {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    created: new Date(0).toISOString(),
    config: {
      User: spec.user ?? '65532',
      WorkingDir: spec.workingDirectory ?? '/',
      Env: Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', ...spec.env }).map(
        ([k, v]) => `${k}=${v}`,
      ),
      ...(spec.entrypoint === undefined ? {} : { Entrypoint: spec.entrypoint }),
      ...(spec.command === undefined ? {} : { Cmd: spec.command }),
    },
    rootfs: { type: 'layers', diff_ids: digests.map((digest) => `sha256:${digest}`) },
  }
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
