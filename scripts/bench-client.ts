/**
 * Compares our client with `@kubernetes/client-node` on one API server: requests per second and CPU per request, with one and with
 * sixteen calls in parallel. The order is ours, theirs, theirs, ours, so that a drift in the machine's speed favours neither.
 * Starts a control plane of its own unless TEST_KUBECONFIG is set. Uses loopback only.
 */
import assert from 'node:assert/strict'

import { CoreV1Api, KubeConfig, setHeaderOptions } from '@kubernetes/client-node'

import { createClient } from '../src/kube/client.ts'
import { configFromKubeconfig } from '../src/kube/config.ts'
import { ConfigMap } from '../src/kube/resources.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { benchmarkArguments } from './bench/arguments.ts'

const HELP = `Usage: scripts/bench-client.ts

Compares the client with @kubernetes/client-node: requests per second and CPU per request. Uses the API server of
TEST_KUBECONFIG, which must be on loopback, or starts one.`

/** A run ends after this many requests or this time, whichever comes first. */
const MAX_REQUESTS = 2_000
const MAX_MS = 5_000
const WARM_UP = 100
const namespace = 'default'
const names = Array.from({ length: 16 }, (_, index) => `bench-client-${index}`)

interface Contender {
  readonly name: string
  get(name: string): Promise<unknown>
  patch(name: string, data: Record<string, string>): Promise<unknown>
  close(): Promise<void>
}

interface Result {
  readonly perSecond: number
  readonly cpuMicros: number
}

type Workload = 'get' | 'patch'

async function ours(kubeconfig: string): Promise<Contender> {
  const client = createClient(await configFromKubeconfig(kubeconfig))
  return {
    name: 'ml-operator',
    get: (name) => client.get(ConfigMap, { namespace, name }),
    patch: (name, data) => client.patch(ConfigMap, { namespace, name }, { data }),
    close: () => client.close(),
  }
}

function theirs(kubeconfig: string): Contender {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const api = config.makeApiClient(CoreV1Api)
  const mergePatch = setHeaderOptions('Content-Type', 'application/merge-patch+json')
  return {
    name: 'client-node 2.0.1',
    get: (name) => api.readNamespacedConfigMap({ namespace, name }),
    patch: (name, data) => api.patchNamespacedConfigMap({ namespace, name, body: { data } }, mergePatch),
    close: () => Promise.resolve(),
  }
}

async function measured(contender: Contender, workload: Workload, concurrency: number): Promise<Result> {
  await repeated(contender, workload, { concurrency, requests: WARM_UP, ms: MAX_MS })
  const cpu = process.cpuUsage()
  const began = performance.now()
  const done = await repeated(contender, workload, { concurrency, requests: MAX_REQUESTS, ms: MAX_MS })
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: done / seconds, cpuMicros: (user + system) / done }
}

interface Extent {
  readonly concurrency: number
  readonly requests: number
  readonly ms: number
}

async function repeated(
  contender: Contender,
  workload: Workload,
  { concurrency, requests, ms }: Extent,
): Promise<number> {
  const deadline = performance.now() + ms
  let begun = 0
  let done = 0
  const worker = async (name: string): Promise<void> => {
    while (begun < requests && performance.now() < deadline) {
      begun += 1
      await (workload === 'get' ? contender.get(name) : contender.patch(name, { turn: `${begun}` }))
      done += 1
    }
  }
  await Promise.all(names.slice(0, concurrency).map(worker))
  return done
}

async function compared(kubeconfig: string, workload: Workload, concurrency: number): Promise<void> {
  const pair: [Contender, Contender] = [await ours(kubeconfig), theirs(kubeconfig)]
  const results = new Map<Contender, Result[]>(pair.map((contender) => [contender, []]))
  for (const contender of [...pair, ...pair.toReversed()]) {
    results.get(contender)?.push(await measured(contender, workload, concurrency))
  }
  const [own, other] = pair.map((contender) => mean(results.get(contender) ?? [])) as [Result, Result]
  console.log(`${workload}, ${concurrency} at once`)
  for (const contender of pair) {
    const runs = results
      .get(contender)
      ?.map(({ perSecond, cpuMicros }) => `${row(perSecond)} req/s ${row(cpuMicros)} µs`)
    console.log(`  ${contender.name.padEnd(18)} ${runs?.join('   ')}`)
  }
  const faster = own.perSecond / other.perSecond
  const cheaper = other.cpuMicros / own.cpuMicros
  console.log(`  ratio              ${faster.toFixed(1)} × the requests, ${cheaper.toFixed(1)} × less CPU per request`)
  for (const contender of pair) await contender.close()
}

function mean(results: readonly Result[]): Result {
  const of = (pick: (result: Result) => number): number =>
    results.reduce((sum, result) => sum + pick(result), 0) / results.length
  return { perSecond: of(({ perSecond }) => perSecond), cpuMicros: of(({ cpuMicros }) => cpuMicros) }
}

function row(value: number): string {
  return value.toFixed(0).padStart(6)
}

async function run(kubeconfig: string): Promise<void> {
  const { server } = await configFromKubeconfig(kubeconfig)
  assert.match(new URL(server).hostname, /^(127\.|localhost$|\[::1\]$)/, 'the benchmark uses loopback only')
  const client = createClient(await configFromKubeconfig(kubeconfig))
  const data = { text: 'x'.repeat(3_000) }
  const object = (name: string): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data,
  })
  try {
    for (const name of names) await client.apply(ConfigMap, object(name), { force: true })
    for (const workload of ['get', 'patch'] as const) {
      for (const concurrency of [1, 16]) await compared(kubeconfig, workload, concurrency)
    }
  } finally {
    for (const name of names) await client.delete(ConfigMap, { namespace, name })
    await client.close()
  }
}

benchmarkArguments(HELP, [])
const existing = process.env['TEST_KUBECONFIG']
if (existing === undefined) {
  const plane = await startControlPlane()
  try {
    await run(plane.kubeconfig)
  } finally {
    await plane.stop()
  }
} else {
  await run(existing)
}
