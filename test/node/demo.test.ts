/**
 * `make demo` as a user runs it: a process that is interrupted and run again. It starts its own cluster besides the shared
 * one.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Deployment, Namespace, Pod } from '../../src/kube/resources.ts'
import { registeredRuns } from '../../testenv/registry.ts'
import { processesOf } from '../../testenv/run-directory.ts'
import { readmeCommands, ROOT } from '../documents/blocks.ts'
import { until } from '../timing/until.ts'

const MAIN = join(ROOT, 'scripts', 'demo', 'main.ts')
const [MAKE_DEMO = '', MAKE_DEMO_DOWN = ''] = readmeCommands('Try it')
const MINUTES = 60_000
/** A first run builds an image layer with PyTorch, and compiles binaries that other tests did not need. */
const LONG = 20 * MINUTES

const directory = mkdtempSync(join(tmpdir(), 'demo-'))
const others = registeredRuns()

interface Run {
  readonly child: ChildProcess
  readonly output: () => string
  readonly exit: Promise<number | null>
}

function demo(command: 'up' | 'down', env: Readonly<Record<string, string>> = {}): Run {
  return start([process.execPath, MAIN, command], env)
}

/** Runs a command of the README, without installing packages again. */
function runReadme(command: string): Run {
  return start(['bash', '-euc', command], { MAKEFLAGS: '--old-file=node_modules/.package-lock.json' })
}

/** Starts a process group, as a terminal does. */
function start([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>): Run {
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    env: { ...process.env, DEMO_DIRECTORY: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return { child, exit, output: () => Buffer.concat(chunks).toString() }
}

/** Sends SIGINT to the process group, as Ctrl-C does. */
async function interrupt({ child, exit }: Run): Promise<number | null> {
  process.kill(-(child.pid ?? 0), 'SIGINT')
  return exit
}

async function finished(run: Run): Promise<string> {
  assert.equal(await run.exit, 0, run.output())
  return run.output()
}

const seconds = (since: number): string => ((Date.now() - since) / 1_000).toFixed(0)
const ourRuns = (): string[] => registeredRuns().filter((run) => !others.includes(run))
const runDirectory = (): string => readFileSync(join(directory, 'cluster'), 'utf8')

async function connected(): Promise<Client> {
  return createClient(await configFromKubeconfig(join(runDirectory(), 'kubeconfig', 'admin')))
}

describe('make demo', () => {
  const key = { namespace: 'ml-demo', name: 'spiral' }
  const operator = { namespace: 'ml-operator-system', name: 'ml-operator' }
  let client: Client

  after(async () => {
    await client?.close()
    await demo('down').exit
    rmSync(directory, { recursive: true, force: true })
  })

  test('names what is missing before anything is started', async () => {
    const run = demo('up', { DEMO_KUBECONFIG: '/no/such/kubeconfig' })
    assert.equal(await run.exit, 1)
    assert.match(run.output(), /lacks:\n {2}- the file \/no\/such\/kubeconfig, named by DEMO_KUBECONFIG/)
    assert.deepEqual(ourRuns(), [])
  })

  test('leaves nothing when interrupted while the cluster starts', async () => {
    const run = demo('up')
    const [begun = ''] = await until('the cluster to begin', () => (ourRuns().length > 0 ? ourRuns() : undefined), LONG)
    assert.equal(await interrupt(run), 130, run.output())
    assert.match(run.output(), /`make demo` continues from here/)
    assert.deepEqual(ourRuns(), [])
    assert.deepEqual(processesOf(begun), [])
  })

  test('keeps the cluster when interrupted while the operator is installed', async (t) => {
    const began = Date.now()
    const run = demo('up')
    await until('the cluster', () => existsSync(join(directory, 'cluster')), LONG)
    t.diagnostic(`the cluster was there after ${seconds(began)} s`)
    assert.ok(Date.now() - began < 2 * MINUTES, 'from the cache, it starts within two minutes')
    client = await connected()
    await until('the operator', () => client.get(Deployment, operator), LONG)
    t.diagnostic(`the operator was there after ${seconds(began)} s`)
    assert.equal(await interrupt(run), 130, run.output())
  })

  test('continues to the end when run again', async () => {
    const output = await finished(runReadme(MAKE_DEMO))
    for (const stage of ['1/6', '2/6'])
      assert.match(output, new RegExp(`${stage}.*\\n +was done before`), 'a finished stage is not repeated')
    assert.equal((await client.get(Deployment, operator)).status?.availableReplicas, 2)
    const { status } = await client.get(trainingJobs, key)
    assert.equal(status?.state, 'Completed')
    assert.equal(status.attempts, 2, 'a worker was killed, and all started again once')
    assert.equal(status.failures, 0, 'which did not count as a failure')
    assert.ok(status.checkpoint?.resumedFrom !== undefined, 'from a checkpoint')
    assert.deepEqual([status.currentEpoch, status.totalEpochs, status.progress], [20, 20, '100%'])
    assert.ok((status.metrics?.['accuracy'] ?? 0) > 0.9)
    assert.match(output, /Running +epoch +\d+\/20 .* loss \d\.\d{4} +accuracy \d+\.\d % +done at \d\d:\d\d:\d\d/)
    assert.deepEqual(status.output?.deployed, { name: 'spiral', version: 'v1', weight: 100 })
  })

  test('serves two versions of the trained model by weight', async () => {
    const { status } = await client.get(modelDeployments, key)
    assert.equal(status?.phase, 'Running')
    const weights = status.activeVersions?.map(({ name, weight }) => [name, weight])
    assert.deepEqual(weights, [
      ['v1', 90],
      ['v2', 10],
    ])
    const versions = await Promise.all(Array.from({ length: 40 }, async () => askedVersion(client)))
    assert.deepEqual([...new Set(versions)].toSorted(), ['v1', 'v2'])
    const { items } = await client.list(Pod, { namespace: 'ml-demo' })
    assert.ok(items.length >= 6, 'two workers, two servers, two routers')
  })

  test('uses only its namespace in an existing cluster, has a fast mode, and keeps a training job when interrupted', async () => {
    const namespaces = async (): Promise<string[]> =>
      (await client.list(Namespace)).items.map(({ metadata }) => metadata.name)
    const known = await namespaces()
    const env = {
      DEMO_KUBECONFIG: join(runDirectory(), 'kubeconfig', 'admin'),
      DEMO_NAMESPACE: 'quick',
      DEMO_FAST: '1',
    }
    const first = demo('up', env)
    await until('the training', () => client.get(trainingJobs, { namespace: 'quick', name: 'spiral' }), LONG)
    assert.equal(await interrupt(first), 130, first.output())
    const output = await finished(demo('up', env))
    assert.doesNotMatch(output, /Helm|killed|second version,/)
    assert.deepEqual((await namespaces()).toSorted(), [...known, 'quick'].toSorted())
    const job = await client.get(trainingJobs, { namespace: 'quick', name: 'spiral' })
    assert.equal(job.status?.state, 'Completed')
    await finished(demo('down', env))
    const left = (await client.list(Namespace)).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    assert.deepEqual(left.map(({ metadata }) => metadata.name).toSorted(), known.toSorted())
    await client.get(trainingJobs, key)
  })

  test('make demo-down leaves nothing', async () => {
    const run = runDirectory()
    await client.close()
    await finished(runReadme(MAKE_DEMO_DOWN))
    assert.deepEqual(ourRuns(), [])
    assert.deepEqual(processesOf(run), [])
    assert.ok(!existsSync(run) && !existsSync(directory))
  })
})

async function askedVersion(client: Client): Promise<string> {
  const path = '/api/v1/namespaces/ml-demo/services/spiral-service:8000/proxy/predict'
  const answer = await client.request({ method: 'POST', path, body: { features: [0.3, 0.1] } })
  return (answer as { version: string }).version
}
