/**
 * Builds our images from their Dockerfiles with buildah and writes their archives.
 *
 * Usage: scripts/image.ts [--published-bases] [--output DIRECTORY] [operator | trainer | model-server ...]
 *
 * The bases are made of Debian packages, so that no registry is needed. With --published-bases, buildah pulls the bases that
 * the Dockerfiles name.
 */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildFromDockerfile, dockerfileImages, type DockerfileName } from '../images/dockerfiles.ts'
import { isBuildahInstalled } from '../testenv/buildah.ts'
import { startProgress } from '../testenv/progress.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'published-bases': { type: 'boolean', default: false },
    output: { type: 'string', default: join(import.meta.dirname, '..', 'dist', 'images') },
  },
})

const known = Object.keys(dockerfileImages)
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) fail(`unknown image ${unknown.join(', ')}: use ${known.join(', ')}`)
if (!isBuildahInstalled()) fail('buildah is not installed: run `make setup`, or `make docker-build` with Docker')

const source = values['published-bases'] ? 'published' : 'local'
for (const name of (positionals.length === 0 ? known : positionals) as DockerfileName[]) {
  const progress = startProgress(`building ${dockerfileImages[name].name} from its Dockerfile`)
  const { archive } = await buildFromDockerfile(name, join(values.output, `${name}.tar`), source)
  progress.done()
  process.stdout.write(`${archive}\n`)
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
