/**
 * What a TrainingJob costs: API writes and reads until its pods exist, at rest and after a restart, and the time it takes
 * as a ratio to the same writes sent without an operator. Rounds with and without one alternate, and each round with one
 * is compared with its two neighbours: what else the machine does then decides less.
 */
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { installApi } from '../../test/api.ts'
import { startOperatorProcess } from '../../test/operator-process.ts'
import { type SpecInput, trainingJob } from '../../test/training-job.ts'
import { until } from '../../test/until.ts'
import { freshNamespaces, type Load, PATIENCE_MS, secondsUntilPods } from './load.ts'
import { between, type Calls, callsAtRest, callsOf } from './operator-calls.ts'
import { type Recording, record } from './recording.ts'
import { startReplayer } from './replayer.ts'

export interface Sizes {
  /** Jobs of each round. */
  readonly jobs: number
  readonly workers: number
  readonly rounds: number
  /** How long to look whether anything is written at rest. */
  readonly restMs: number
}

export interface Measurement {
  /** Writes until the last pod exists: of a plain job, and of one with hyperparameters and a claim for checkpoints. */
  readonly untilPods: { readonly plain: number; readonly full: number }
  readonly rounds: readonly OperatorRound[]
  /** Seconds of the rounds without an operator: one before, one after and one between those with one. */
  readonly raw: readonly number[]
  readonly ratios: readonly number[]
  readonly restart: { readonly seconds: number; readonly calls: Calls }
}

export interface OperatorRound {
  readonly seconds: number
  /** From its start, for jobs of the rounds before: they are served already. */
  readonly served: Calls
  readonly calls: Calls
  readonly atRest: Calls
}

/** Torchrun with its arguments in the command and checkpoints in a bucket: needs no claim and no ConfigMap. */
const plain = (numWorkers: number): SpecInput => ({
  command: ['torchrun', 'train.py'],
  args: ['--lr=0.001', '--epochs=10'],
  checkpoint: { storage: { type: 's3', path: 's3://checkpoints/run' } },
  numWorkers,
})

const full = (numWorkers: number): SpecInput => ({ numWorkers, hyperparameters: { learningRate: 0.001 } })

export async function measure(kubeconfig: string, sizes: Sizes): Promise<Measurement> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const of =
    (spec: SpecInput) =>
    (namespace: string, name: string): TrainingJob =>
      trainingJob(namespace, name, spec)
  const load: Load = { cluster, ...sizes, manifest: of(plain(sizes.workers)) }
  const client = createClient(cluster)
  await installApi(client)
  const [first = '', second = ''] = await freshNamespaces(client, 'recorded', 2)
  await client.close()
  const recording = await record(cluster, first, load.manifest)
  const fuller = await record(cluster, second, of(full(sizes.workers)))
  const raw = [await rawRound(kubeconfig, load, 'raw-0', recording)]
  const rounds: OperatorRound[] = []
  for (let round = 1; round <= sizes.rounds; round += 1) {
    rounds.push(await operatorRound(kubeconfig, load, `operated-${round}`, sizes.restMs))
    raw.push(await rawRound(kubeconfig, load, `raw-${round}`, recording))
  }
  const ratios = rounds.map(({ seconds }, index) => (2 * seconds) / ((raw[index] ?? 0) + (raw[index + 1] ?? 0)))
  const jobs = sizes.jobs * (2 * sizes.rounds + 1) + 2
  const restart = await restarted(kubeconfig, jobs)
  return { untilPods: { plain: untilPods(recording), full: untilPods(fuller) }, rounds, raw, ratios, restart }
}

function untilPods({ calls }: Recording): number {
  return calls.findLastIndex(({ resource }) => resource?.kind === 'Pod') + 1
}

const LANES = 16
const FLAGS = ['--no-webhook', '--no-leader-elect', '--log-level=warn']

/** As many lanes as the operator has. */
async function rawRound(kubeconfig: string, load: Load, prefix: string, recording: Recording): Promise<number> {
  const replayer = await startReplayer({ kubeconfig, recording, lanes: LANES })
  const seconds = await secondsUntilPods(load, prefix, (job) => replayer.serve(job))
  await replayer.end()
  return seconds
}

async function operatorRound(kubeconfig: string, load: Load, prefix: string, restMs: number): Promise<OperatorRound> {
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  const served = await callsAtRest(operator)
  const seconds = await secondsUntilPods(load, prefix)
  const done = await callsAtRest(operator)
  await new Promise((resolve) => setTimeout(resolve, restMs))
  const later = await callsOf(operator)
  await operator.stop()
  return { seconds, served, calls: between(served, done), atRest: between(done, later) }
}

async function restarted(kubeconfig: string, jobs: number): Promise<Measurement['restart']> {
  const began = performance.now()
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  await until('every job to be looked at', async () => (await callsOf(operator)).passes >= jobs, PATIENCE_MS)
  const seconds = (performance.now() - began) / 1000
  const calls = await callsAtRest(operator)
  await operator.stop()
  return { seconds, calls }
}
