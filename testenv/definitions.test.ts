import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { provideDefinition } from './definitions.ts'

const ROUTES = 'httproutes.gateway.networking.k8s.io'

function emptyDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'definitions-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

function setEnv(t: TestContext, values: Record<string, string>): void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]))
  Object.assign(process.env, values)
  t.after(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
}

test('KUBE_ASSETS comes first', async (t) => {
  const directory = emptyDirectory(t)
  writeFileSync(join(directory, `${ROUTES}.yaml`), '')
  setEnv(t, { KUBE_ASSETS: directory, XDG_CACHE_HOME: emptyDirectory(t) })
  assert.equal(await provideDefinition(ROUTES), join(directory, `${ROUTES}.yaml`))
})

test('without Go the error says what to do instead', async (t) => {
  setEnv(t, { KUBE_ASSETS: emptyDirectory(t), XDG_CACHE_HOME: emptyDirectory(t), PATH: emptyDirectory(t) })
  await assert.rejects(provideDefinition(ROUTES), /install Go, or put httproutes\.\S+\.yaml into .*KUBE_ASSETS/)
})

test('a definition that nobody has is an error that names it', async () => {
  await assert.rejects(provideDefinition('widgets.example.com'), /widgets\.example\.com.*testenv\/definitions\.ts/)
})
