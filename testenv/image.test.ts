import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { buildImage, buildImages, type ImageSpec } from './image.ts'
import { runCommand } from './command.ts'

const spec: ImageSpec = {
  name: 'test/tiny:1',
  files: { '/app/run.sh': { text: 'echo hi\n', mode: 0o755 }, '/app/latest': { linkTo: 'run.sh' } },
  command: ['/app/run.sh'],
}

/** Uses an empty cache. */
function emptyCache(t: TestContext): void {
  const directory = mkdtempSync(join(tmpdir(), 'cache-'))
  const before = process.env['XDG_CACHE_HOME']
  process.env['XDG_CACHE_HOME'] = directory
  t.after(() => {
    if (before === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = before
    rmSync(directory, { recursive: true })
  })
}

test('the same content gives the same archive, byte for byte', async (t) => {
  emptyCache(t)
  const first = await buildImage(spec)
  const bytes = readFileSync(first.archive)
  rmSync(first.archive)
  const second = await buildImage(spec)
  assert.equal(second.archive, first.archive)
  assert.ok(readFileSync(second.archive).equals(bytes))
})

test('does not rebuild a cached image', async (t) => {
  emptyCache(t)
  const { archive } = await buildImage(spec)
  const { mtimeNs } = statSync(archive, { bigint: true })
  await buildImage(spec)
  assert.equal(statSync(archive, { bigint: true }).mtimeNs, mtimeNs)
})

test('other content gives another archive', async (t) => {
  emptyCache(t)
  const { archive } = await buildImage(spec)
  const changed = await buildImage({ ...spec, files: { '/app/run.sh': { text: 'echo ho\n' } } })
  assert.notEqual(changed.archive, archive)
})

test('keeps the last few archives of a name, and all other names', async (t) => {
  emptyCache(t)
  const other = await buildImage({ ...spec, name: 'test/tiny:10' })
  for (const text of ['1', '2', '3', '4', '5']) await buildImage({ ...spec, files: { '/version': { text } } })
  const kept = readdirSync(dirname(other.archive)).filter((name) => name.endsWith('.tar'))
  assert.equal(kept.length, 4)
})

test('images in one archive share layers and keep their names', async (t) => {
  emptyCache(t)
  const archive = await buildImages([spec, { ...spec, name: 'test/other:1', command: ['/app/latest'] }])
  const manifest = JSON.parse(await runCommand(['tar', '--extract', '--to-stdout', '--file', archive, 'manifest.json']))
  const [one, other] = manifest as { Config: string; RepoTags: string[]; Layers: string[] }[]
  assert.deepEqual([one?.RepoTags, other?.RepoTags], [['test/tiny:1'], ['test/other:1']])
  assert.deepEqual(one?.Layers, other?.Layers)
  assert.notEqual(one?.Config, other?.Config)
  const files = (await runCommand(['tar', '--list', '--file', archive])).trim().split('\n')
  assert.equal(files.length, new Set(files).size)
})
