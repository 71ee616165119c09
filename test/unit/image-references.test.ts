/**
 * Every image that examples and documents name can be had: it is published, it is one of ours that the documents say how to
 * build, or its registry is registry.example.com, which stands for yours.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MODEL_SERVER_IMAGE } from '../../images/model-server.ts'
import { OPERATOR_IMAGE } from '../../images/operator.ts'
import { TRAINER_IMAGE } from '../../images/trainer.ts'
import { servingImages } from '../../src/plan/serving/runtimes/images.ts'
import { defaultServingConfig } from '../../src/plan/serving/config.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** docs/decisions/serving.md has the sources of those that the operator starts. */
const published = [
  'pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime',
  'tensorflow/tensorflow:2.16.1-gpu',
  'pytorch/torchserve:0.12.0-gpu',
  'tensorflow/serving:2.18.0-gpu',
  ...servingImages(defaultServingConfig).map(({ image }) => image),
]
const ours = [OPERATOR_IMAGE, TRAINER_IMAGE, MODEL_SERVER_IMAGE, 'ml-operator:0.1.0']

/** Manifests and settings. The pages of the reference and of decisions show no examples to apply. */
const files = globSync(['examples/*.yaml', 'README.md', 'docs/*.md'], { cwd: ROOT }).toSorted()

const imagesIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:image|runtimeImage|routerImage|agentImage): *['"]?([a-z][^\s'"`#},{]*[:/][^\s'"`#},{]+)/g)]
    .flatMap(([, image]) => image ?? [])
    .filter((image) => !image.endsWith(':'))

test('every image in examples and documents is published, ours or yours', () => {
  const found = files.flatMap((file) =>
    imagesIn(readFileSync(join(ROOT, file), 'utf8')).map((image) => ({ file, image })),
  )
  assert.ok(found.length > 20, String(found.length))
  const known = new Set([...published, ...ours])
  const unknown = found.filter(({ image }) => !known.has(image) && !image.startsWith('registry.example.com/'))
  assert.deepEqual(unknown, [])
})

test('the page on serving says how to build and load the image of the runtime that has no published one', () => {
  const page = readFileSync(join(ROOT, 'docs/serving.md'), 'utf8')
  for (const command of ['make image IMAGES=model-server', 'kind load image-archive dist/images/model-server.tar'])
    assert.ok(page.includes(command), command)
})
