/**
 * Measures the cost of a TrainingJob: API writes and reads until its pods exist, once converged and after a restart, and the time as
 * a ratio to the same writes sent without an operator. Rounds with and without the operator alternate, and each operator round is
 * compared with its two neighbours, which reduces the influence of other load on the machine.
 */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { keyOf } from '../../src/kube/object.ts'
import { installApi } from '../../test/cluster/api.ts'
import { type SpecInput, trainingJob } from '../../test/builders/training-job.ts'
import { freshNamespaces, type Load, secondsUntilPods } from './load.ts'
import { type OperatorRound, operatorRound, ratiosToRaw, type Restart, restarted } from './operator-round.ts'
import { type Recording, record } from './recording.ts'
import { startReplayer } from './replayer.ts'

export interface Sizes {
  /** Jobs of each round. */
  readonly jobs: number
  readonly workers: number
  readonly rounds: number
  /** How long to check that nothing is written once converged. */
  readonly restMs: number
}

export interface Measurement {
  /** Writes until the last pod exists: for a plain job, and for one with hyperparameters and a checkpoint claim. */
  readonly untilPods: { readonly plain: number; readonly full: number }
  readonly rounds: readonly OperatorRound[]
  /** Seconds of the rounds without an operator: before, between and after those with one. */
  readonly raw: readonly number[]
  readonly ratios: readonly number[]
  readonly restart: Restart
}

/** Arguments in the command and checkpoints in a bucket: needs neither a claim nor a ConfigMap. */
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
  const recording = await record(cluster, first, load.manifest)
  const fuller = await record(cluster, second, of(full(sizes.workers)))
  await removeJobs(client, second)
  await client.close()
  const raw = [await rawRound(kubeconfig, load, 'raw-0', recording)]
  const rounds: OperatorRound[] = []
  for (let round = 1; round <= sizes.rounds; round += 1) {
    rounds.push(await operatorRound(kubeconfig, () => secondsUntilPods(load, `operated-${round}`), sizes.restMs))
    raw.push(await rawRound(kubeconfig, load, `raw-${round}`, recording))
  }
  const ratios = ratiosToRaw(rounds, raw)
  const jobs = sizes.jobs * (2 * sizes.rounds + 1) + 1
  const restart = await restarted(kubeconfig, jobs)
  return { untilPods: { plain: untilPods(recording), full: untilPods(fuller) }, rounds, raw, ratios, restart }
}

/** No provisioner runs here: a job with a claim would report, seconds later, that it waits for its volume. */
async function removeJobs(client: Client, namespace: string): Promise<void> {
  const { items } = await client.list(trainingJobs, { namespace })
  for (const job of items) {
    await client.patch(trainingJobs, keyOf(job), { metadata: { finalizers: null } })
    await client.delete(trainingJobs, keyOf(job))
  }
}

function untilPods({ calls }: Recording): number {
  return calls.findLastIndex(({ resource }) => resource?.kind === 'Pod') + 1
}

const LANES = 16

/** With as many lanes as the operator has workers. */
async function rawRound(kubeconfig: string, load: Load, prefix: string, recording: Recording): Promise<number> {
  const replayer = await startReplayer({ kubeconfig, recording, lanes: LANES })
  const seconds = await secondsUntilPods(load, prefix, (job) => replayer.serve(job))
  await replayer.end()
  return seconds
}
