import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { envoyImage } from '../../../images/envoy.ts'
import { modelServerImage } from '../../../images/model-server.ts'
import { operatorImage } from '../../../images/operator.ts'
import { trainerImage } from '../../../images/trainer.ts'
import { controlPlaneAssets, nodeAssets } from '../../../testenv/assets.ts'
import { provideBinaries } from '../../../testenv/binaries.ts'
import { loadImage } from '../../../testenv/container-runtime.ts'
import { archiveOf, buildImages, type ImageSpec } from '../../../testenv/image.ts'
import type { Demo } from '../demo.ts'
import { localCluster } from '../local-cluster.ts'
import type { Stage } from '../stage.ts'

interface Bundle {
  readonly title: string
  readonly specs: readonly ImageSpec[]
}

/** Images that share a large layer are bundled. */
const bundles = (): Bundle[] => [
  { title: 'operator', specs: [operatorImage()] },
  { title: 'router', specs: [envoyImage()] },
  { title: 'trainer and model server, with PyTorch', specs: [trainerImage(), modelServerImage()] },
]

/** Builds images from the repository and loads them into the cluster, without a registry. */
export const images: Stage = {
  title: 'Images: operator, trainer, model server, router',

  async isDone(demo) {
    return bundles().every((bundle) => isLoaded(demo, bundle))
  },

  async run(demo) {
    const binaries = await provideBinaries([...controlPlaneAssets, ...nodeAssets])
    for (const bundle of bundles().filter((one) => !isLoaded(demo, one))) {
      demo.signal.throwIfAborted()
      const names = bundle.specs.map(({ name }) => name).join(', ')
      demo.terminal.live(`${names}: building`)
      const archive = await buildImages(bundle.specs)
      demo.terminal.live(`${names}: loading, ${(statSync(archive).size / 1e6).toFixed(0)} MB`)
      await loadImage(binaries, runDirectory(demo), { name: names, archive })
      writeFileSync(noteOf(demo, bundle), archive)
      demo.terminal.line(`${bundle.title}: ready`)
    }
  },
}

function runDirectory({ settings }: Demo): string {
  const local = localCluster(settings)
  if (local === undefined) throw new Error('there is no cluster to load images into')
  return local.runDirectory
}

/** A file that records which build was loaded into containerd. */
function noteOf(demo: Demo, { title }: Bundle): string {
  return join(runDirectory(demo), `loaded-${title.replaceAll(/[^a-z]+/gi, '-')}`)
}

function isLoaded(demo: Demo, bundle: Bundle): boolean {
  const note = noteOf(demo, bundle)
  return existsSync(note) && readFileSync(note, 'utf8') === archiveOf(bundle.specs)
}
