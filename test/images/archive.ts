/** Reads an image archive in the format of `docker save`. */
import { runCommand } from '../../testenv/command.ts'

interface ArchiveManifest {
  readonly Config: string
  readonly RepoTags: readonly string[]
  readonly Layers: readonly string[]
}

export interface ArchiveFacts {
  readonly names: readonly string[]
  /** Digest of the configuration, which container runtimes report as the ID of the image. */
  readonly id: string
  /** Absolute paths of files and links. */
  readonly paths: readonly string[]
}

export async function archiveFacts(archive: string): Promise<ArchiveFacts> {
  const [image] = JSON.parse(await extract(archive, 'manifest.json')) as [ArchiveManifest]
  const listings = await Promise.all(image.Layers.map((layer) => list(archive, layer)))
  return {
    names: image.RepoTags,
    id: `sha256:${image.Config.replace(/\.json$/, '')}`,
    paths: listings.flat().filter((path) => !path.endsWith('/')),
  }
}

async function extract(archive: string, entry: string): Promise<string> {
  return runCommand(['tar', '--extract', '--to-stdout', '--file', archive, entry])
}

async function list(archive: string, layer: string): Promise<string[]> {
  const script = 'tar --extract --to-stdout --file "$0" "$1" | tar --list'
  const names = await runCommand(['bash', '-euo', 'pipefail', '-c', script, archive, layer])
  return names
    .trim()
    .split('\n')
    .map((name) => `/${name.replace(/^\.\//, '')}`)
}
