/** The images of a release: their archives, their digests, and the Debian packages in them. */

import { join } from 'node:path'
import { NODE_PACKAGES } from '../../images/bases.ts'
import { buildFromDockerfile, dockerfileImages, type DockerfileName } from '../../images/dockerfiles.ts'
import { LIBRARIES } from '../../images/operator.ts'
import { PYTHON_PACKAGES } from '../../images/python.ts'
import { runCommand } from '../../testenv/command.ts'
import { debianLayer } from '../../testenv/debian-layer.ts'
import { sha256 } from './checksums.ts'
import { type DebianPackage, installedPackages } from './sbom.ts'

export interface ReleasedImage {
  readonly name: string
  readonly archive: string
  /** Of the archive. */
  readonly sha256: string
  /** Digest of the image's configuration: what container runtimes show as its ID. */
  readonly id: string
}

const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch

export async function releaseImage(which: DockerfileName, version: string, directory: string): Promise<ReleasedImage> {
  const archive = `image-${which}-${version}-linux-${ARCHITECTURE}.tar`
  const path = join(directory, archive)
  await buildFromDockerfile(which, path)
  const manifest = await runCommand(['tar', '--extract', '--to-stdout', '--file', path, 'manifest.json'])
  const [{ Config }] = JSON.parse(manifest) as [{ readonly Config: string }]
  const { name } = dockerfileImages[which]
  return { name, archive, sha256: await sha256(path), id: `sha256:${Config.replace(/\.json$/, '')}` }
}

export async function packagesIn(which: DockerfileName): Promise<DebianPackage[]> {
  const layer = await debianLayer(which === 'operator' ? NODE_PACKAGES : PYTHON_PACKAGES)
  const status = await runCommand(['tar', '--extract', '--to-stdout', '--file', layer, './var/lib/dpkg/status'])
  const installed = installedPackages(status)
  return which === 'operator' ? installed.filter(({ name }) => LIBRARIES.includes(name)) : installed
}
