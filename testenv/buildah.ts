/**
 * Builds images from Dockerfiles with buildah, without a daemon and without a registry: the base of the Dockerfile can be an
 * archive of this machine. The same files and the same base give the same archive, byte for byte.
 */

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { runCommand } from './command.ts'
import type { Image } from './image.ts'

export interface DockerfileBuild {
  /** The reference that pods name. */
  readonly name: string
  /** Directory with the files that the Dockerfile copies. */
  readonly context: string
  /** Default: the Dockerfile of the context. */
  readonly file?: string
  /** An archive for the build argument BASE. Omitted: the published base that the Dockerfile names. */
  readonly base?: string
  /** Directories of this machine that the build can use, by their path in the build. */
  readonly mounts?: Readonly<Record<string, string>>
}

const BUILDAH = '/usr/bin/buildah'

export function isBuildahInstalled(): boolean {
  return existsSync(BUILDAH)
}

/** Builds the image and writes it to `archive`, in the format of `docker save`. */
export async function buildDockerfile(build: DockerfileBuild, archive: string): Promise<Image> {
  await mkdir(dirname(archive), { recursive: true })
  const store = await mkdtemp(join(tmpdir(), 'buildah-'))
  const buildah = (...args: string[]): Promise<string> => runCommand([BUILDAH, ...storage(store), ...args])
  const name = qualified(build.name)
  const scratch = `${archive}.${process.pid}`
  try {
    await buildah('bud', ...REPRODUCIBLE, ...buildArguments(build), '--tag', name, build.context)
    await buildah('push', name, `docker-archive:${scratch}:${name}`)
    await rename(scratch, archive)
  } finally {
    await buildah('rm', '--all').catch(() => undefined)
    await rm(store, { recursive: true, force: true })
    await rm(scratch, { force: true })
  }
  return { name: build.name, archive }
}

const REPRODUCIBLE = ['--timestamp=0', '--identity-label=false', '--omit-history', '--no-cache']

/** A store of its own, so that builds at the same time do not wait for each other, and nothing is left behind. */
function storage(store: string): string[] {
  return ['--root', join(store, 'root'), '--runroot', join(store, 'run'), '--storage-driver', 'overlay']
}

function buildArguments({ base, file, mounts = {} }: DockerfileBuild): string[] {
  return [
    ...(file === undefined ? [] : ['--file', file]),
    // Containers in containers often lack what the other isolations need.
    '--isolation=chroot',
    ...(base === undefined ? [] : ['--build-arg', `BASE=docker-archive:${base}`]),
    ...Object.entries(mounts).flatMap(([inside, outside]) => ['--volume', `${outside}:${inside}`]),
  ]
}

/** The name as container runtimes complete it. Without this, buildah would put it under `localhost/`. */
function qualified(name: string): string {
  const [first = '', ...rest] = name.split('/')
  if (rest.length === 0) return `docker.io/library/${name}`
  return /[.:]/.test(first) || first === 'localhost' ? name : `docker.io/${name}`
}
