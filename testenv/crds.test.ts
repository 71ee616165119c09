import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { provideCrd } from './crds.ts'

const ROUTES = 'httproutes.gateway.networking.k8s.io'

function emptyDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'crds-'))
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

test('prefers KUBE_ASSETS', async (t) => {
  const directory = emptyDirectory(t)
  writeFileSync(join(directory, `${ROUTES}.yaml`), '')
  setEnv(t, { KUBE_ASSETS: directory, XDG_CACHE_HOME: emptyDirectory(t) })
  assert.equal(await provideCrd(ROUTES), join(directory, `${ROUTES}.yaml`))
})

test('reports what to do without Go', async (t) => {
  setEnv(t, { KUBE_ASSETS: emptyDirectory(t), XDG_CACHE_HOME: emptyDirectory(t), PATH: emptyDirectory(t) })
  await assert.rejects(provideCrd(ROUTES), /install Go, or put httproutes\.\S+\.yaml into .*KUBE_ASSETS/)
})

test('rejects an unknown CRD by name', async () => {
  await assert.rejects(provideCrd('widgets.example.com'), /widgets\.example\.com.*testenv\/crds\.ts/)
})
