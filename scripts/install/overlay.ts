/**
 * Writes a kustomization for `make deploy`: config/base with another image. It is not part of the repository.
 *   node scripts/install/overlay.ts registry.example.com/ml-operator:0.1.0
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const CONFIG = join(import.meta.dirname, '..', '..', 'config')

interface ImageReference {
  readonly newName: string
  readonly newTag?: string
  readonly digest?: string
}

/** Splits a reference: the host of a registry may have a port, so a tag is behind the last slash. */
export function imageReference(image: string): ImageReference {
  const [name = '', digest] = image.split('@')
  const tag = /:([^/:]+)$/.exec(name)?.[1]
  const newName = tag === undefined ? name : name.slice(0, -tag.length - 1)
  if (newName === '' || (tag === undefined && digest === undefined))
    throw new Error(`'${image}' must be an image with a tag or a digest: write registry.example.com/ml-operator:0.1.0`)
  return { newName, ...(digest === undefined ? tag !== undefined && { newTag: tag } : { digest }) }
}

/** Repeats the replacements of the base, which has set AGENT_IMAGE before the overlay changes the image. */
export function overlay(image: string): string {
  const { replacements } = parse(readFileSync(join(CONFIG, 'base', 'kustomization.yaml'), 'utf8')) as {
    readonly replacements: unknown
  }
  return stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: ['../base'],
    images: [{ name: 'ml-operator', ...imageReference(image) }],
    replacements,
  })
}

export function writeOverlay(image: string, name = 'local'): string {
  const content = overlay(image)
  const folder = join(CONFIG, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'kustomization.yaml'), content)
  return folder
}

if (import.meta.main) writeOverlay(process.argv[2] ?? '')
