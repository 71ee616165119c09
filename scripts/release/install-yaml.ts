/** `install.yaml`: everything that `kubectl apply -k config/base` applies, in one file. */

import { join } from 'node:path'
import { parseAllDocuments, visit } from 'yaml'
import { runCommand } from '../../testenv/command.ts'

const BASE = join(import.meta.dirname, '..', '..', 'config', 'base')

/** `image` replaces the image of the operator and of its agent. */
export async function installYaml(kubectl: string, image: string): Promise<string> {
  return withImage(await runCommand([kubectl, 'kustomize', BASE]), image)
}

/** Sets `image` in the container `operator` and in its variable AGENT_IMAGE. */
export function withImage(manifests: string, image: string): string {
  const documents = parseAllDocuments(manifests)
  let replaced = 0
  for (const document of documents) {
    if (document.get('kind') !== 'Deployment') continue
    visit(document, {
      Map(_, node) {
        const name = node.get('name')
        const key = name === 'operator' ? 'image' : name === 'AGENT_IMAGE' ? 'value' : undefined
        if (key === undefined || !node.has(key)) return
        node.set(key, image)
        replaced++
      },
    })
  }
  if (replaced !== 2) throw new Error(`expected the images of the operator and its agent, found ${replaced}`)
  return documents
    .map((document) => document.toString({ lineWidth: 0 }))
    .join('---\n')
    .replaceAll('---\n---\n', '---\n')
}
