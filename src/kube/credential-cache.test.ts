import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { cachedCredential } from './credential-cache.ts'
import { credentialFiles } from './credential-files.ts'

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'credential-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

test('concurrent calls load a credential once, and again when it is stale', async () => {
  let now = 0
  let loads = 0
  const source = cachedCredential(
    () => Promise.resolve({ credential: { token: `${++loads}` }, freshUntil: now + 100 }),
    () => now,
  )
  const tokens = (await Promise.all([source(), source(), source()])).map(({ token }) => token)
  assert.deepEqual(tokens, ['1', '1', '1'])
  now = 99
  assert.deepEqual(await source(), { token: '1' })
  now = 100
  assert.deepEqual(await source(), { token: '2' })
})

test('a rejected credential is replaced once for all calls', async () => {
  let loads = 0
  const source = cachedCredential(() => Promise.resolve({ credential: { token: `${++loads}` }, freshUntil: Infinity }))
  const old = await source()
  const [a, b] = await Promise.all([source(old), source(old)])
  assert.deepEqual([a, b], [{ token: '2' }, { token: '2' }])
  assert.equal(await source(old), a, 'a refusal of what is no longer held changes nothing')
})

test('an unchanged credential stays the same object, so that a rejection is final', async () => {
  const source = cachedCredential(() => Promise.resolve({ credential: { token: 'x' }, freshUntil: 0 }))
  const first = await source()
  assert.equal(await source(first), first)
})

test('a failed reload keeps the old credential, unless it was rejected', async () => {
  let now = 0
  let broken = false
  let loads = 0
  const load = () => {
    loads += 1
    return broken
      ? Promise.reject(new Error('disk'))
      : Promise.resolve({ credential: { token: 'x' }, freshUntil: now + 10 })
  }
  const source = cachedCredential(load, () => now)
  const held = await source()
  broken = true
  now = 50
  assert.equal(await source(), held)
  assert.equal(await source(), held)
  assert.equal(loads, 2, 'not at every call')
  await assert.rejects(source(held), /disk/)
})

test('a token file is reloaded every minute, and at once when its token is rejected', async (t) => {
  const path = join(await directory(t), 'token')
  let now = 0
  await writeFile(path, 'one\n')
  const source = credentialFiles({ token: path }, {}, () => now)
  assert.deepEqual(await source(), { token: 'one' })
  await writeFile(path, 'two\n')
  now = 59_999
  assert.deepEqual(await source(), { token: 'one' })
  now = 60_000
  const second = await source()
  assert.deepEqual(second, { token: 'two' })
  await writeFile(path, 'three\n')
  assert.deepEqual(await source(second), { token: 'three' })
})

test('a file that is missing or empty is named', async (t) => {
  const path = join(await directory(t), 'token')
  await assert.rejects(credentialFiles({ token: path })(), {
    name: 'ConfigError',
    message: `${path}: cannot read the credential file`,
  })
  await writeFile(path, ' \n')
  await assert.rejects(credentialFiles({ token: path })(), { message: `${path}: the credential file is empty` })
})
