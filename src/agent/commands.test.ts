import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const SRC = join(import.meta.dirname, '..')

/** The packages that are loaded with a file of `src`. */
function loadedWith(file: string): ReadonlySet<string> {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })
    await import(${JSON.stringify(join(SRC, file))})`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  return new Set(stdout.split('\n').flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []))
}

const STORES = ['@aws-sdk/client-s3', 'google-auth-library']

test('the operator never loads the libraries of the object stores', () => {
  const loaded = loadedWith('operator.ts')
  assert.ok(loaded.has('pino'), 'it does load what it needs')
  for (const name of STORES) assert.ok(!loaded.has(name), name)
})

test('a command of the agent loads what it needs and no more', () => {
  assert.deepEqual([...loadedWith('agent/commands.ts')], [])
  assert.ok(loadedWith('agent/fetch/sources/s3.ts').has('@aws-sdk/client-s3'))
  assert.ok(!loadedWith('agent/fetch/sources/hugging-face.ts').has('@aws-sdk/client-s3'))
})
