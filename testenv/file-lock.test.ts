import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { withFileLock } from './file-lock.ts'

function lockPath(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'lock-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return join(directory, 'lock')
}

test('work under one lock never overlaps', async (t) => {
  const path = lockPath(t)
  let inside = 0
  let most = 0
  const work = (): Promise<void> =>
    withFileLock(
      path,
      async () => {
        most = Math.max(most, ++inside)
        await new Promise(setImmediate)
        inside--
      },
      'a thing',
    )
  await Promise.all([work(), work(), work()])
  assert.equal(most, 1)
  assert.equal(existsSync(path), false)
})

test('takes over the lock of a process that has ended', async (t) => {
  const path = lockPath(t)
  const { pid } = spawnSync('true')
  writeFileSync(path, String(pid))
  assert.equal(await withFileLock(path, async () => 'done', 'a thing'), 'done')
})

test('releases the lock after a failure', async (t) => {
  const path = lockPath(t)
  await assert.rejects(
    withFileLock(path, () => Promise.reject(new Error('broken')), 'a thing'),
    /broken/,
  )
  assert.equal(existsSync(path), false)
})
