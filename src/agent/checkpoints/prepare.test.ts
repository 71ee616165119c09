import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import {
  checkpointDirectory,
  checkpointFiles,
  filesIn,
  nameOf,
  save,
  saveFiles,
  timeOf,
} from '../../../test/fixtures/checkpoints.ts'
import type { PreparedCheckpoints } from '../../api/checkpoint-result.ts'
import { prepareCheckpoints } from './prepare.ts'
import { originOf, storeOf } from './store-of.ts'

const signal = new AbortController().signal
const RETRY_POLICY = { waitsMs: [], stallMs: 10_000 }

interface Request {
  readonly keepLast?: number
  readonly resumeFrom?: string
}

async function prepare(root: string, { keepLast = 0, resumeFrom }: Request = {}): Promise<PreparedCheckpoints> {
  const origin = resumeFrom === undefined ? undefined : await originOf(resumeFrom, {})
  const options = { keepLast, signal, retryPolicy: RETRY_POLICY, log: () => {}, now: Date.now }
  return prepareCheckpoints(await storeOf(root, {}), origin, options)
}

const found = (step: number, name = nameOf(step)) => ({ name, step, time: timeOf(step) })

async function directories(t: TestContext): Promise<readonly [root: string, other: string]> {
  return [await checkpointDirectory(t), await checkpointDirectory(t)]
}

test('an empty or absent directory has no checkpoint', async (t) => {
  const [root] = await directories(t)
  assert.deepEqual(await prepare(root), { count: 0, pruned: 0, imported: false })
  assert.deepEqual(await prepare(join(root, 'absent')), { count: 0, pruned: 0, imported: false })
})

test('chooses the highest step of the complete checkpoints', async (t) => {
  const [root] = await directories(t)
  for (const step of [5, 100_000_000, 99_999_999]) await save(root, step)
  await save(root, 7, 'checkpoint-7')
  await saveFiles(join(root, nameOf(200_000_000)), { ...checkpointFiles(200_000_000), 'model.pt': 'short' })
  await saveFiles(join(root, '.tmp-rank0-step-300000000-x'), checkpointFiles(300_000_000))
  await saveFiles(join(root, `${nameOf(5)}.replaced-0123`), checkpointFiles(400_000_000))
  await mkdir(join(root, 'lost+found'))
  assert.deepEqual(await prepare(root), { latest: found(100_000_000), count: 4, pruned: 0, imported: false })
})

test('deletes all but the newest, and nothing else', async (t) => {
  const [root] = await directories(t)
  for (const step of [1, 2, 3, 4]) await save(root, step)
  await saveFiles(join(root, 'mine'), { 'notes.txt': 'keep' })
  await saveFiles(join(root, nameOf(0)), { 'model.pt': 'without a marker' })
  const result = await prepare(root, { keepLast: 2 })
  assert.deepEqual(result, { latest: found(4), count: 2, pruned: 2, imported: false, other: true })
  assert.deepEqual((await readdir(root)).toSorted(), ['mine', nameOf(0), nameOf(3), nameOf(4)])
})

test('reports what is not of this layout', async (t) => {
  const [root] = await directories(t)
  await writeFile(join(root, 'last.ckpt'), 'weights')
  assert.deepEqual(await prepare(root), { count: 0, pruned: 0, imported: false, other: true })
})

for (const [what, path] of [
  ['a root', ''],
  ['one checkpoint', nameOf(3)],
  ['one checkpoint, with a slash', `${nameOf(3)}/`],
] as const) {
  test(`imports from ${what} into an empty directory, once`, async (t) => {
    const [root, other] = await directories(t)
    await save(other, 3)
    await save(other, 2)
    const resumeFrom = join(other, path)
    assert.deepEqual(await prepare(root, { resumeFrom }), { latest: found(3), count: 1, pruned: 0, imported: true })
    assert.deepEqual(await filesIn(join(root, nameOf(3))), { ...checkpointFiles(3) })
    assert.deepEqual(await readdir(root), [nameOf(3)])
    await save(root, 4)
    assert.deepEqual(await prepare(root, { resumeFrom }), { latest: found(4), count: 2, pruned: 0, imported: false })
  })
}

test('an import does not touch a directory with the same name', async (t) => {
  const [root, other] = await directories(t)
  await save(other, 3)
  await saveFiles(join(root, nameOf(3)), { 'model.pt': 'half' })
  const { latest, imported } = await prepare(root, { resumeFrom: other })
  assert.ok(imported)
  assert.match(latest?.name ?? '', /^step-00000003-[0-9a-f]{8}$/)
  assert.deepEqual(await filesIn(join(root, nameOf(3))), { 'model.pt': 'half' })
  assert.deepEqual(await filesIn(join(root, latest?.name ?? '')), { ...checkpointFiles(3) })
})

test('refuses to resume from what has no complete checkpoint', async (t) => {
  const [root, other] = await directories(t)
  await saveFiles(join(other, nameOf(1)), { 'model.pt': 'half' })
  for (const resumeFrom of [other, join(other, nameOf(1)), join(other, 'absent')]) {
    await assert.rejects(
      prepare(root, { resumeFrom }),
      /has no complete checkpoint: correct spec.checkpoint.resumeFrom/,
    )
  }
  await assert.rejects(prepare('relative'), /use an absolute directory/)
  await assert.rejects(prepare('/a/../b'), /use an absolute directory/)
})

test('removes what a killed run has left for more than an hour', async (t) => {
  const [root] = await directories(t)
  await saveFiles(join(root, '.tmp-agent-step-1-old'), { 'model.pt': 'half' })
  await saveFiles(join(root, '.tmp-agent-step-1-new'), { 'model.pt': 'half' })
  await utimes(join(root, '.tmp-agent-step-1-old', 'model.pt'), 0, 0)
  assert.deepEqual(await prepare(root), { count: 0, pruned: 0, imported: false })
  assert.deepEqual(await readdir(root), ['.tmp-agent-step-1-new'])
})
