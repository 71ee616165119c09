/** Our images as their Dockerfiles build them. */

import { join } from 'node:path'
import { buildDockerfile, type DockerfileBuild } from '../testenv/buildah.ts'
import { runCommand } from '../testenv/command.ts'
import type { Image } from '../testenv/image.ts'
import { nodeBase, pythonBase } from './bases.ts'
import { MODEL_SERVER_IMAGE } from './model-server.ts'
import { OPERATOR_IMAGE } from './operator.ts'
import { TRAINER_IMAGE } from './trainer.ts'

const ROOT = join(import.meta.dirname, '..')

/** `local`: the base is made of Debian packages. `published`: buildah pulls the base that the Dockerfile names. */
export type BaseSource = 'local' | 'published'

interface DockerfileImage {
  readonly name: string
  readonly context: string
  /** Default: the Dockerfile of the context. */
  readonly file?: string
  readonly base: () => Promise<string>
  /** Whether npm runs in the build. */
  readonly usesNpm?: boolean
}

export const dockerfileImages = {
  operator: { name: OPERATOR_IMAGE, context: ROOT, base: nodeBase, usesNpm: true },
  trainer: {
    name: TRAINER_IMAGE,
    context: ROOT,
    file: join(import.meta.dirname, 'trainer', 'Dockerfile'),
    base: pythonBase,
  },
  'model-server': { name: MODEL_SERVER_IMAGE, context: join(import.meta.dirname, 'model-server'), base: pythonBase },
} as const satisfies Record<string, DockerfileImage>

export type DockerfileName = keyof typeof dockerfileImages

export async function buildFromDockerfile(
  which: DockerfileName,
  archive: string,
  source: BaseSource = 'local',
): Promise<Image> {
  const { name, context, file, base, usesNpm = false }: DockerfileImage = dockerfileImages[which]
  const build: DockerfileBuild = {
    name,
    context,
    ...(file !== undefined && { file }),
    ...(source === 'local' && { base: await base() }),
    ...(usesNpm && { mounts: { '/root/.npm': await npmCache() } }),
  }
  return buildDockerfile(build, archive)
}

/** Packages that this machine has fetched already need not be fetched again. */
async function npmCache(): Promise<string> {
  return (await runCommand(['npm', 'config', 'get', 'cache'])).trim()
}
