/** The npm package of the controller runtime, as users get it: packed, installed into an empty project, compiled and run. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bareImports, RUNTIME_PACKAGE, writeRuntimePackage } from '../../scripts/release/runtime-package.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { runCommand } from '../../testenv/command.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { ROOT } from '../documents/blocks.ts'
import { until } from '../timing/until.ts'

const { client, kubeconfig } = await sharedCluster()

/** Runs the example in one namespace and without its port, because tests share the cluster and the machine. */
const RUN = `
import { createClient } from '${RUNTIME_PACKAGE}/kube/client'
import { loadConfig } from '${RUNTIME_PACKAGE}/kube/config'
import { ConfigMap } from '${RUNTIME_PACKAGE}/kube/resources'
import { createLogger, Manager } from '${RUNTIME_PACKAGE}'
import { FakeClock } from '${RUNTIME_PACKAGE}/testing'
import { addEchoController } from './echo-controller.ts'

const config = await loadConfig()
const manager = new Manager({
  name: 'echo',
  connect: (interceptors) => createClient(config, { interceptors, fieldManager: 'echo' }),
  log: createLogger({ level: 'warn' }),
})
manager.caches.of(ConfigMap, { namespace: process.argv[2] ?? '' })
addEchoController(manager)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
await manager.run(stop.signal)
console.log(typeof FakeClock)
`

/** Strict, and with the declarations of the package and its dependencies checked. */
const COMPILER = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
}

const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }

let project: string

async function install(): Promise<void> {
  project = await mkdtemp(join(tmpdir(), 'runtime-package-'))
  const source = join(project, 'source')
  await writeRuntimePackage(source)
  await runCommand(['npm', 'pack', source, '--silent', '--pack-destination', project])
  const app = join(project, 'app')
  await mkdir(app)
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const packed = join(project, `${RUNTIME_PACKAGE}-${version}.tgz`)
  await runCommand(['npm', 'install', '--prefix', app, '--prefer-offline', '--no-audit', '--no-fund', packed])
  const installed = join(app, 'node_modules', RUNTIME_PACKAGE)
  // Node does not run TypeScript inside of node_modules.
  await cp(join(installed, 'examples', 'echo-controller.ts'), join(app, 'echo-controller.ts'))
  await writeFile(join(app, 'run.ts'), RUN)
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER, include: ['*.ts'] }))
}

function start(...args: string[]): ChildProcess {
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  return spawn(process.execPath, ['run.ts', ...args], {
    cwd: join(project, 'app'),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

describe('the package of the runtime', () => {
  before(install)
  after(() => rm(project, { recursive: true }))

  test('has the dependencies that it imports, and no others', async () => {
    const manifest = JSON.parse(await readFile(join(project, 'source', 'package.json'), 'utf8')) as object
    const { dependencies } = manifest as { readonly dependencies: object }
    const expected = ['@types/node', 'kubernetes-types', 'pino', 'prom-client', 'undici', 'yaml']
    assert.deepEqual(Object.keys(dependencies), expected)
  })

  test('has types: the example controller compiles in strict mode', async () => {
    await runCommand([join(ROOT, 'node_modules', '.bin', 'tsc'), '--project', join(project, 'app')])
  })

  test('runs the example controller', async (t) => {
    const ns = await namespace(t)
    const child = start(ns)
    t.after(() => child.kill('SIGKILL'))
    const annotations = { 'echo.example.com/copy-to': 'copy' }
    const metadata = { namespace: ns, name: 'original', annotations }
    await client.apply(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'one' } })
    await until('the copy', async () => {
      const { items } = await client.list(ConfigMap, { namespace: ns })
      return items.some(({ metadata: { name }, data }) => name === 'copy' && data?.['text'] === 'one')
    })
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    assert.deepEqual(await exit, [0, null])
  })
})

test('finds the packages that a file imports', () => {
  const code = `import a from 'yaml'\nimport type { b } from "@x/y/z.js"\nexport { c } from './c.js'\nimport 'node:fs'\nconst d = import('pino')`
  assert.deepEqual(bareImports(code), ['yaml', '@x/y', '@types/node', 'pino'])
})
