import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { haproxyImage } from '../../../images/haproxy.ts'
import { modelServerImage } from '../../../images/model-server.ts'
import { operatorImage } from '../../../images/operator.ts'
import { trainerImage } from '../../../images/trainer.ts'
import { controlPlaneAssets, nodeAssets } from '../../../testenv/assets.ts'
import { provideBinaries } from '../../../testenv/binaries.ts'
import { loadImage } from '../../../testenv/container-runtime.ts'
import { archiveOf, buildImage, type ImageSpec } from '../../../testenv/image.ts'
import type { Demo } from '../demo.ts'
import { localCluster } from '../local-cluster.ts'
import type { Stage } from '../stage.ts'

const all = (): ImageSpec[] => [operatorImage(), haproxyImage(), trainerImage(), modelServerImage()]

/** Images from the files of the repository, into the cluster's own store: there is no registry. */
export const images: Stage = {
  title: 'Images: operator, trainer, model server, router',

  async isDone(demo) {
    return all().every((spec) => isLoaded(demo, spec))
  },

  async run(demo) {
    const binaries = await provideBinaries([...controlPlaneAssets, ...nodeAssets])
    for (const spec of all().filter((one) => !isLoaded(demo, one))) {
      demo.signal.throwIfAborted()
      demo.terminal.live(`${spec.name}: is being made`)
      const image = await buildImage(spec)
      demo.terminal.live(`${spec.name}: is being loaded`)
      await loadImage(binaries, runDirectory(demo), image)
      writeFileSync(noteOf(demo, spec), image.archive)
      demo.terminal.line(spec.name)
    }
  },
}

function runDirectory({ settings }: Demo): string {
  const local = localCluster(settings)
  if (local === undefined) throw new Error('there is no cluster to load images into')
  return local.runDirectory
}

/** containerd keeps what it was given; the note says which build that was. */
function noteOf(demo: Demo, { name }: ImageSpec): string {
  return join(runDirectory(demo), `loaded-${name.replaceAll(/[^a-z0-9.]+/g, '-')}`)
}

function isLoaded(demo: Demo, spec: ImageSpec): boolean {
  const note = noteOf(demo, spec)
  return existsSync(note) && readFileSync(note, 'utf8') === archiveOf(spec)
}
