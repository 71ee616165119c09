/** Whatever is in a directory, nothing outside of it is read, written or deleted. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { link, lstat, mkdir, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'

import {
  checkpointDirectory,
  checkpointFiles,
  filesIn,
  nameOf,
  save,
  saveFiles,
} from '../../../test/fixtures/checkpoints.ts'
import type { PreparedCheckpoints } from '../../api/checkpoint-result.ts'
import { contentOf } from './content.ts'
import { copyAs } from './copy.ts'
import { deleteCheckpoints } from './delete.ts'
import { DirectoryStore } from './directory.ts'
import { listCheckpoints } from './inspection.ts'
import { prepareCheckpoints } from './prepare.ts'
import { originOf } from './store-of.ts'
import type { Content } from './store.ts'

const { signal } = new AbortController()
const retryPolicy = { waitsMs: [], stallMs: 10_000 }

async function prepare(root: string, resumeFrom?: string): Promise<PreparedCheckpoints> {
  const origin = resumeFrom === undefined ? undefined : await originOf(resumeFrom, {})
  const options = { keepLast: 1, signal, retryPolicy, log: () => {}, now: () => Date.now() + 1e9 }
  return prepareCheckpoints(new DirectoryStore(root), origin, options)
}

/** A root beside a directory that must not change. */
async function place(t: TestContext): Promise<{ readonly root: string; readonly outside: string }> {
  const base = await checkpointDirectory(t)
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  await mkdir(root)
  await save(outside, 50)
  await saveFiles(outside, { secret: 'secret' })
  return { root, outside }
}

describe('a hostile directory', () => {
  test('links to checkpoints, files and directories outside do not count', async (t) => {
    const { root, outside } = await place(t)
    await symlink(join(outside, nameOf(50)), join(root, nameOf(50)))
    await saveFiles(join(root, 'file-link'), checkpointFiles(60, { secret: 'secret' }))
    await rm(join(root, 'file-link', 'secret'))
    await symlink(join(outside, 'secret'), join(root, 'file-link', 'secret'))
    await saveFiles(join(root, 'folder-link'), {
      '.complete': checkpointFiles(61, { 'd/secret': 'secret' })['.complete'] ?? '',
    })
    await symlink(outside, join(root, 'folder-link', 'd'))
    await mkdir(join(root, 'marker-link'))
    await symlink(join(outside, nameOf(50), '.complete'), join(root, 'marker-link', '.complete'))
    await save(root, 1)
    const before = await filesIn(outside)
    assert.equal((await prepare(root)).latest?.step, 1)
    await deleteCheckpoints(new DirectoryStore(root), { signal, retryPolicy })
    assert.deepEqual(await filesIn(outside), before)
    assert.ok((await lstat(join(root, nameOf(50)))).isSymbolicLink())
  })

  test('an import does not write through a link that waits for it', async (t) => {
    const { root, outside } = await place(t)
    const source = await checkpointDirectory(t)
    await save(source, 5)
    const [{ digest } = { digest: '' }] = (await listCheckpoints(new DirectoryStore(source), signal)).complete
    const unfinished = `.tmp-agent-${nameOf(5)}-${digest.slice(0, 16)}`
    const before = await filesIn(outside)
    await symlink(outside, join(root, unfinished))
    await assert.rejects(prepare(root, source), /remove that link/)
    await rm(join(root, unfinished))
    await mkdir(join(root, unfinished))
    await writeFile(join(root, unfinished, 'kept'), '')
    await symlink(outside, join(root, unfinished, 'nested'))
    await assert.rejects(
      prepareCheckpoints(new DirectoryStore(root), await originOf(source, {}), {
        keepLast: 0,
        signal,
        retryPolicy,
        log: () => {},
        now: () => 0,
      }),
      /remove that link/,
    )
    assert.deepEqual(await filesIn(outside), before)
  })

  test('pipes do not block, and huge, sparse and lying files do not count', async (t) => {
    const { root } = await place(t)
    await mkdir(join(root, 'pipe'))
    execFileSync('mkfifo', [join(root, 'pipe', '.complete'), join(root, 'pipe', 'model.pt')])
    await saveFiles(join(root, 'huge-marker'), checkpointFiles(70))
    await truncate(join(root, 'huge-marker', '.complete'), 2 ** 40)
    await saveFiles(join(root, 'lying'), { ...checkpointFiles(71), 'model.pt': '' })
    await saveFiles(join(root, 'binary'), checkpointFiles(72))
    await writeFile(join(root, 'binary', '.complete'), Buffer.from([0xff, 0xfe, 0x7b]))
    await saveFiles(join(root, 'directory-as-marker', '.complete'), { x: 'x' })
    await save(root, 1)
    assert.deepEqual((await prepare(root)).latest?.step, 1)
    const before = (await readdir(root)).filter((name) => name !== nameOf(1) && name !== 'lying')
    await deleteCheckpoints(new DirectoryStore(root), { signal, retryPolicy })
    assert.deepEqual(await readdir(root), before)
  })

  test('a file that changes while it is copied is not copied as complete', async (t) => {
    const { root } = await place(t)
    const source = await checkpointDirectory(t)
    await save(source, 5)
    const store = new DirectoryStore(source)
    const target = new DirectoryStore(root)
    const [found] = (await listCheckpoints(store, signal)).complete
    assert.ok(found)
    const changing = Object.assign(new DirectoryStore(source), {
      read: async (...args: Parameters<DirectoryStore['read']>) => {
        if (args[1].path === 'model.pt') await writeFile(join(source, nameOf(5), 'model.pt'), 'weights of 6')
        return store.read(...args)
      },
    })
    await assert.rejects(copyAs({ from: changing, to: target, name: nameOf(5) }, { signal, retryPolicy }), {
      name: 'ChangedError',
    })
    assert.deepEqual((await listCheckpoints(target, signal)).complete, [])
  })

  test('a full volume: the reason names it, and the training gets the space back', async (t) => {
    const { root } = await place(t)
    const source = await checkpointDirectory(t)
    await save(source, 5)
    const content = await contentOf(new DirectoryStore(source), nameOf(5), { signal, retryPolicy })
    assert.ok(content)
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const read: Content['read'] = async function* (path, range) {
      yield* content.read(path, range, signal)
      if (path === 'model.pt') throw full
    }
    await assert.rejects(new DirectoryStore(root).write(nameOf(5), { ...content, read }, signal), {
      reason: 'NoSpace',
      message: `the volume of ${root} is full: enlarge the volume, or keep fewer checkpoints`,
    })
    assert.deepEqual(await readdir(root), [])
  })

  test('property: any names and files: the newest complete one remains, everything else of others too', async (t) => {
    const { root, outside } = await place(t)
    const before = await filesIn(outside)
    const name = fc.oneof(
      fc.constantFrom('a b', '...', '-x', 'ok.replaced-1', 'new\nline', 'x'.repeat(200), '.hidden', 'lost+found', 'é'),
      fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
    )
    const kind = fc.constantFrom('complete', 'no marker', 'bad marker', 'short', 'link', 'file', 'hard link')
    const entries = fc.uniqueArray(fc.tuple(name, kind, fc.nat(30)), { selector: ([one]) => one, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(entries, async (given) => {
        await rm(root, { recursive: true })
        await mkdir(root)
        for (const [one, what, step] of given) await create(join(root, one), what, { step, outside })
        const others = given.filter(([one, what]) => what !== 'complete' || !isName(one)).map(([one]) => one)
        const steps = given.filter(([one, what]) => what === 'complete' && isName(one)).map(([, , step]) => step)
        const { latest } = await prepare(root)
        assert.equal(latest?.step, steps.length === 0 ? undefined : Math.max(...steps))
        const left = await readdir(root)
        for (const one of others) assert.ok(left.includes(one), one)
        assert.equal(left.length, others.length + Math.min(1, steps.length))
      }),
      { numRuns: 60 },
    )
    assert.deepEqual(await filesIn(outside), before)
  })
})

const isName = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,127}$/.test(name) && !name.includes('.replaced-')

async function create(
  path: string,
  kind: string,
  { step, outside }: { readonly step: number; readonly outside: string },
): Promise<void> {
  const files = checkpointFiles(step)
  if (kind === 'file') return writeFile(path, 'file')
  if (kind === 'link') return symlink(join(outside, nameOf(50)), path)
  if (kind === 'no marker') return saveFiles(path, { 'model.pt': 'x' })
  if (kind === 'bad marker') return saveFiles(path, { ...files, '.complete': '{"step":1,"files":{"../x":1}}' })
  if (kind === 'short') return saveFiles(path, { ...files, 'model.pt': '' })
  await saveFiles(path, files)
  if (kind !== 'hard link') return
  await rm(join(path, '.complete'))
  await link(join(outside, 'secret'), join(path, '.complete'))
}
