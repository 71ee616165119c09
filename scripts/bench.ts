/**
 * What a TrainingJob costs: API writes and reads until its pods exist, at rest and after a restart, and the time all of
 * it takes as a ratio to the same writes sent without an operator, in the same run, before and after it.
 * Runs on a control plane of its own, without a scheduler, so that nobody else writes to the pods.
 *
 * Usage: scripts/bench.ts [JOBS] [WORKERS]      1000 4 if not told
 */
import { trainingJobs } from '../src/api/kinds.ts'
import type { TrainingJob } from '../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../src/kube/config.ts'
import { Namespace, Pod } from '../src/kube/resources.ts'
import { watch } from '../src/kube/watch.ts'
import { installApi } from '../test/api.ts'
import { type OperatorProcess, startOperatorProcess } from '../test/operator-process.ts'
import { trainingJob } from '../test/training-job.ts'
import { until } from '../test/until.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { type Recording, record, replay } from './bench/recording.ts'

const jobs = Number(process.argv[2] ?? 1_000)
const workers = Number(process.argv[3] ?? 4)
const NAMESPACES = 20
const CREATORS = 8
const REST_MS = 10_000
const PATIENCE_MS = 30 * 60_000

const manifest = (namespace: string, name: string): TrainingJob =>
  trainingJob(namespace, name, { numWorkers: workers, hyperparameters: { learningRate: 0.001 } })

async function namespaces(client: Client, prefix: string): Promise<string[]> {
  const names = Array.from({ length: NAMESPACES }, (_, index) => `${prefix}-${index}`)
  for (const name of names) await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const name of names) {
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
    await until(`the account of ${name}`, () => client.request({ method: 'GET', path }))
  }
  return names
}

/** Counts the pods whose namespace begins so, on a connection of its own. */
function podCounter(cluster: ClientConfig, prefix: string) {
  const client = createClient(cluster)
  const stop = new AbortController()
  const seen = new Set<string>()
  const note = ({ metadata }: Pod): void =>
    void (metadata.namespace?.startsWith(prefix) && seen.add(metadata.uid ?? ''))
  const follow = async (): Promise<void> => {
    for await (const update of watch(client, Pod, { signal: stop.signal })) {
      if (update.type === 'replace') update.items.forEach(note)
      else if (update.type === 'apply') note(update.object)
    }
    await client.close()
  }
  const ended = follow()
  return {
    reaches: (count: number) => until(`${count} pods`, () => seen.size >= count, PATIENCE_MS),
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}

/** Creates all jobs, eight at a time, and does with each what `then` says. */
async function createAll(client: Client, places: readonly string[], then?: (job: TrainingJob) => Promise<void>) {
  const numbers = Array.from({ length: jobs }, (_, index) => index).values()
  const creator = async (): Promise<void> => {
    for (const number of numbers) {
      const namespace = places[number % places.length] ?? ''
      const job = await client.create(trainingJobs, manifest(namespace, `job-${number}`))
      await then?.(job)
    }
  }
  await Promise.all(Array.from({ length: then ? 16 : CREATORS }, creator))
}

async function timed(cluster: ClientConfig, prefix: string, begin: (places: readonly string[]) => Promise<void>) {
  const client = createClient(cluster)
  const places = await namespaces(client, prefix)
  const counter = podCounter(cluster, prefix)
  const began = performance.now()
  await begin(places)
  await counter.reaches(jobs * workers)
  const seconds = (performance.now() - began) / 1000
  await counter.stop()
  await client.close()
  return seconds
}

interface Calls {
  readonly writes: number
  readonly reads: number
  readonly byKind: ReadonlyMap<string, number>
  readonly passes: number
}

/** The operator's own count of what it has asked of the API server, events and watches aside. */
async function callsOf({ url }: OperatorProcess): Promise<Calls> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = [...text.matchAll(/^(\w+)\{(.*)\} (\d+)$/gm)].map(([, name, labels = '', value]) => {
    const [, verb = '', kind = ''] = /verb="(\w+)",kind="(\w+)"/.exec(labels) ?? []
    return { name, verb, kind, value: Number(value) }
  })
  const calls = samples.filter(({ name, kind }) => name === 'kube_requests_total' && kind !== 'Event')
  const writes = calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  const reads = calls.filter(({ verb }) => verb === 'get' || verb === 'list')
  const passes = samples.filter(({ name }) => name === 'reconcile_duration_seconds_count')
  const byKind = Map.groupBy(writes, ({ verb, kind }) => `${verb} ${kind}`)
  return {
    writes: sum(writes),
    reads: sum(reads),
    passes: sum(passes),
    byKind: new Map([...byKind].map(([what, group]) => [what, sum(group)])),
  }
}

function sum(samples: readonly { readonly value: number }[]): number {
  return samples.reduce((total, { value }) => total + value, 0)
}

/** Nothing was asked for between two looks. */
async function quiet(operator: OperatorProcess): Promise<Calls> {
  let before = await callsOf(operator)
  return until(
    'the operator to come to rest',
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      const now = await callsOf(operator)
      const isQuiet = now.writes === before.writes && now.passes === before.passes
      before = now
      return isQuiet && now
    },
    PATIENCE_MS,
  )
}

const FLAGS = ['--no-webhook', '--no-leader-elect', '--log-level=warn']

async function operatorRun(kubeconfig: string, cluster: ClientConfig) {
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  const client = createClient(cluster)
  const atStart = await quiet(operator)
  const seconds = await timed(cluster, 'run', async (places) => createAll(client, places))
  const atRest = await quiet(operator)
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  const afterRest = await callsOf(operator)
  await operator.stop()
  await client.close()
  return { seconds, atStart, atRest, afterRest }
}

async function restartRun(kubeconfig: string): Promise<{ seconds: number; calls: Calls }> {
  const began = performance.now()
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  await until('every job to be looked at', async () => (await callsOf(operator)).passes >= jobs, PATIENCE_MS)
  const seconds = (performance.now() - began) / 1000
  const calls = await quiet(operator)
  await operator.stop()
  return { seconds, calls }
}

async function rawRun(cluster: ClientConfig, prefix: string, recording: Recording): Promise<number> {
  const client = createClient(cluster)
  const seconds = await timed(cluster, prefix, (places) =>
    createAll(client, places, (job) => replay(client, recording, job)),
  )
  await client.close()
  return seconds
}

async function run(kubeconfig: string): Promise<void> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const [place = ''] = await namespaces(client, 'recorded')
  const recording = await record(cluster, place, manifest)
  const before = await rawRun(cluster, 'before', recording)
  const { seconds, atStart, atRest, afterRest } = await operatorRun(kubeconfig, cluster)
  const restart = await restartRun(kubeconfig)
  const after = await rawRun(cluster, 'after', recording)
  await client.close()
  const perJob = (count: number): string => (count / jobs).toFixed(2)
  const raw = (before + after) / 2
  const untilPods = recording.calls.findLastIndex(({ resource }) => resource?.kind === 'Pod') + 1
  console.log(`${jobs} jobs × ${workers} workers`)
  console.log(`writes of a job until its pods exist  ${untilPods} (pods + ${untilPods - workers})`)
  console.log(`writes per job until it is at rest    ${perJob(atRest.writes - atStart.writes)}`)
  for (const [kind, count] of atRest.byKind)
    console.log(`  ${kind.padEnd(34)}  ${perJob(count - (atStart.byKind.get(kind) ?? 0))}`)
  console.log(`writes for jobs that were served already   ${atStart.writes}`)
  console.log(`reads per job                         ${perJob(atRest.reads - atStart.reads)}`)
  console.log(`writes at rest, in ${REST_MS / 1000} s              ${afterRest.writes - atRest.writes}`)
  console.log(
    `writes after a restart                ${restart.calls.writes} (every job seen ${restart.seconds.toFixed(1)} s after it)`,
  )
  console.log(`raw writes before, after              ${before.toFixed(1)} s, ${after.toFixed(1)} s`)
  console.log(
    `operator                              ${seconds.toFixed(1)} s, ${((jobs * workers) / seconds).toFixed(0)} pods/s`,
  )
  console.log(`ratio to raw writes                   ${(seconds / raw).toFixed(2)}`)
}

const plane = await startControlPlane()
try {
  await plane.scheduler.stop()
  await run(plane.kubeconfig)
} finally {
  await plane.stop()
}
