import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { cni, runc } from './assets.ts'
import { areAvailable, provideBinaries } from './binaries.ts'

function setEnv(t: TestContext, values: Record<string, string>): void {
  const before = { ...process.env }
  Object.assign(process.env, values)
  t.after(() => {
    for (const name of Object.keys(values)) delete process.env[name]
    Object.assign(process.env, before)
  })
}

function emptyDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'assets-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

test('prefers KUBE_ASSETS', async (t) => {
  const directory = emptyDirectory(t)
  writeFileSync(join(directory, 'runc'), '')
  setEnv(t, { KUBE_ASSETS: directory, XDG_CACHE_HOME: emptyDirectory(t) })
  assert.ok(areAvailable([runc]))
  assert.equal((await provideBinaries([runc])).path('runc'), join(directory, 'runc'))
})

test('reports what was tried and what to install when no source works', async (t) => {
  setEnv(t, { KUBE_ASSETS: emptyDirectory(t), XDG_CACHE_HOME: emptyDirectory(t), PATH: emptyDirectory(t) })
  assert.equal(areAvailable([runc]), false)
  await assert.rejects(provideBinaries([runc]), (error: Error) => {
    for (const part of [
      'no Go compiler',
      'KUBE_ASSETS',
      'the cache',
      'testenv/go/runc',
      'install Go 1.26',
      'libseccomp-dev',
    ]) {
      assert.ok(error.message.includes(part), `${part} in:\n${error.message}`)
    }
    return true
  })
})

test('rejects a binary that was not requested', async (t) => {
  const directory = emptyDirectory(t)
  writeFileSync(join(directory, 'runc'), '')
  setEnv(t, { KUBE_ASSETS: directory })
  const binaries = await provideBinaries([runc])
  assert.throws(() => binaries.path('kubelet'), /kubelet belongs to none of: runc/)
})

test('builds once for concurrent callers, and provides complete binaries', async (t) => {
  const cache = emptyDirectory(t)
  // Uses Go's own cache, so that the build takes seconds.
  setEnv(t, { GOCACHE: execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim(), XDG_CACHE_HOME: cache })
  const [one, two] = await Promise.all([provideBinaries([cni]), provideBinaries([cni])])
  assert.equal(one.path('bridge'), two.path('bridge'))
  const built = readdirSync(join(cache, 'ml-operator', 'bin'))
  assert.equal(built.length, 1, `no lock, no scratch directory, one result: ${built.join(' ')}`)
})
