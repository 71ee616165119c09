import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../..')

/** Lints one planted file with the project's own rules. */
function lintPlanted(t: TestContext, path: string, source: string): { clean: boolean; output: string } {
  const directory = mkdtempSync(join(tmpdir(), 'lint-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const file of ['oxlint.config.ts', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, file), join(directory, file))
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  const target = join(directory, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, source)
  const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), [path], {
    cwd: directory,
    encoding: 'utf8',
  })
  return { clean: status === 0, output: stdout }
}

const planted = [
  {
    path: 'src/plan/training/planted.ts',
    source: "export * from '../../runtime/cache.ts'\n",
    says: 'src/plan may import only',
  },
  { path: 'src/plan/planted.ts', source: "export { readFile } from 'node:fs'\n", says: 'src/plan is pure' },
  {
    path: 'src/plan/planted.ts',
    source: "import type { Logger } from 'pino'\nexport type L = Logger\n",
    says: 'src/plan is pure',
  },
  { path: 'src/runtime/planted.ts', source: "export * from '../api/schema.ts'\n", says: 'src/runtime may import only' },
  {
    path: 'src/kube/planted.ts',
    source: "import type { Cache } from '../runtime/cache.ts'\nexport type C = Cache\n",
    says: 'src/kube may import only',
  },
  {
    path: 'src/reconcile/planted.ts',
    source: "export * from '../plan/training/names.ts'\n",
    says: 'import src/plan/training/index.ts',
  },
  {
    path: 'src/plan/serving/planted.ts',
    source: "export * from '../training/steps/run.ts'\n",
    says: 'import src/plan/training/index.ts',
  },
  {
    path: 'src/planted.ts',
    source: "export * from './plan/training/config.ts'\n",
    says: 'import src/plan/training/index.ts',
  },
  {
    path: 'scripts/bench/planted.ts',
    source: "export * from '../../src/plan/training/names.ts'\n",
    says: 'import src/plan/training/index.ts',
  },
  { path: 'src/api/planted.ts', source: "export * from '../main.ts'\n", says: 'src/api may import only' },
  { path: 'src/api/planted.ts', source: "export * from '../../testenv/cluster.ts'\n", says: 'src/api may import only' },
  {
    path: 'src/reconcile/planted.ts',
    source: "export * from '../plan/serving/steps/routing.ts'\n",
    says: 'import src/plan/serving/index.ts',
  },
  {
    path: 'src/plan/serving/steps/planted.ts',
    source: "export * from '../../traffic/contract.ts'\n",
    says: 'import src/plan/traffic/index.ts',
  },
  {
    path: 'src/planted.ts',
    source: "export * from './plan/traffic/providers/providers.ts'\n",
    says: 'import src/plan/traffic/index.ts',
  },
  {
    path: 'scripts/planted.ts',
    source: "export * from '../src/plan/serving/config.ts'\n",
    says: 'import src/plan/serving/index.ts',
  },
  {
    path: 'src/kube/planted.ts',
    source: 'async function work(): Promise<void> {}\nwork()\n',
    says: 'no-floating-promises',
  },
  {
    path: 'src/kube/planted.ts',
    source:
      "export const f = (x: 'a' | 'b'): number | undefined => {\n  switch (x) {\n    case 'a':\n      return 1\n  }\n  return undefined\n}\n",
    says: 'switch-exhaustiveness-check',
  },
]

for (const { path, source, says } of planted) {
  test(`rejects ${JSON.stringify(source.split('\n')[0])} in ${path}`, (t) => {
    const { clean, output } = lintPlanted(t, path, source)
    assert.equal(clean, false)
    assert.ok(output.includes(says), output)
  })
}

for (const [path, source] of [
  ['src/runtime/planted.ts', "export * from '../kube/object.ts'\n"],
  ['src/reconcile/planted.ts', "export * from '../plan/training/index.ts'\n"],
  ['src/reconcile/planted.ts', "export * from '../plan/serving/index.ts'\n"],
  ['src/reconcile/planted.test.ts', "export * from '../plan/training/names.ts'\n"],
  ['src/plan/training/steps/planted.ts', "export * from '../names.ts'\n"],
  ['src/plan/serving/steps/planted.ts', "export * from '../../traffic/index.ts'\n"],
] as const) {
  test(`accepts ${JSON.stringify(source.trim())} in ${path}`, (t) => {
    assert.deepEqual(lintPlanted(t, path, source).clean, true)
  })
}
