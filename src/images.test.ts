import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { images } from './images.ts'
import { defaultServingConfig } from './plan/serving/index.ts'
import { builtInRuntimes } from './plan/serving/runtimes/runtime.ts'
import { frameworks } from './plan/training/frameworks/registry.ts'
import { defaultTrainingConfig } from './plan/training/index.ts'

const listed = async (...args: string[]): Promise<string[]> => (await images(args, {})).trim().split('\n')

/** Every string at or below a setting whose name ends in `image` or `images`. */
function imageSettings(value: unknown, isImage = false): string[] {
  if (typeof value === 'string') return isImage ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => imageSettings(inner, isImage || /images?$/i.test(name)))
}

test('lists every image in the configuration, the runtimes and the frameworks', async () => {
  const known = imageSettings([defaultServingConfig, defaultTrainingConfig, builtInRuntimes, frameworks])
  const names = Object.keys(builtInRuntimes).length + Object.keys(frameworks).length
  assert.ok(known.length >= names + 2, 'the walk finds the operator, the router, each runtime and each framework')
  assert.deepEqual(await listed(), [...new Set(known)].toSorted())
})

test('follows the configuration of the operator', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'images-'))
  t.after(() => rm(directory, { recursive: true }))
  const file = join(directory, 'config.yaml')
  await writeFile(
    file,
    'serving: {routerImage: "r.example.com/envoy:1", runtimes: {triton: {image: "r/triton:1"}}}\ntraining: {defaultImages: {jax: "r/jax:1"}}\n',
  )
  const lines = await listed(`--config=${file}`, '--agent-image=r.example.com/ml-operator:1')
  for (const image of ['r.example.com/envoy:1', 'r/jax:1', 'r/triton:1', 'r.example.com/ml-operator:1'])
    assert.ok(lines.includes(image), image)
  for (const image of [defaultServingConfig.routerImage, defaultServingConfig.agentImage])
    assert.ok(!lines.includes(image), image)
  assert.ok(lines.includes(frameworks.pytorch.defaultImage), 'frameworks that the file omits keep their default')
})

test('describes what each image is for', async () => {
  const lines = await listed('--describe')
  assert.ok(lines.includes(`${defaultServingConfig.routerImage}\trouter of a model`))
  assert.ok(lines.every((line) => /^\S+\t\S/.test(line)))
})

test('rejects unknown flags', async () => {
  await assert.rejects(images(['--namespace=a'], {}), /Unknown option/)
})
