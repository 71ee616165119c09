/**
 * What a model of two versions costs: API writes and reads until it runs, at rest and after a restart, and the time it
 * takes as a ratio to the same writes sent without an operator. Rounds with and without one alternate, and each round
 * with one is compared with its two neighbours.
 */
import { modelDeployments } from '../../src/api/kinds.ts'
import { createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import { installApi } from '../../test/api.ts'
import { startOperatorProcess } from '../../test/operator-process.ts'
import { startServing } from '../../test/serving-operator.ts'
import { installTrafficKinds } from '../../test/traffic-kinds.ts'
import { until } from '../../test/until.ts'
import { startDeploymentDriver } from './deployment-driver.ts'
import { PATIENCE_MS } from './load.ts'
import { between, type Calls, callsAtRest, callsOf } from './operator-calls.ts'
import { type Recording, recorder } from './recording.ts'
import { startReplayer } from './replayer.ts'
import { bareNamespaces, benchModel, secondsUntilServed, type ServingLoad } from './serving-load.ts'

export interface ServingSizes {
  /** Models of each round. */
  readonly models: number
  readonly rounds: number
  /** How long to look whether anything is written at rest. */
  readonly restMs: number
}

export interface ServingRound {
  readonly seconds: number
  /** From its start, for models of the rounds before: they are served already. */
  readonly served: Calls
  readonly calls: Calls
  readonly atRest: Calls
}

export interface ServingMeasurement {
  readonly rounds: readonly ServingRound[]
  readonly raw: readonly number[]
  readonly ratios: readonly number[]
  readonly restart: { readonly seconds: number; readonly calls: Calls }
}

const LANES = 16
const FLAGS = ['--no-webhook', '--no-leader-elect', '--log-level=warn']

/** On a control plane without a controller manager: Deployments are told to be available, nobody makes pods. */
export async function measureServing(kubeconfig: string, sizes: ServingSizes): Promise<ServingMeasurement> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  await installTrafficKinds(client)
  await client.close()
  const load: ServingLoad = { cluster, models: sizes.models }
  const driver = startDeploymentDriver(cluster)
  const recording = await recordModel(cluster)
  const raw = [await rawRound(kubeconfig, load, 'raw-0', recording)]
  const rounds: ServingRound[] = []
  for (let round = 1; round <= sizes.rounds; round += 1) {
    rounds.push(await operatorRound(kubeconfig, load, `operated-${round}`, sizes.restMs))
    raw.push(await rawRound(kubeconfig, load, `raw-${round}`, recording))
  }
  const ratios = rounds.map(({ seconds }, index) => (2 * seconds) / ((raw[index] ?? 0) + (raw[index + 1] ?? 0)))
  const restart = await restarted(kubeconfig, sizes.models * (2 * sizes.rounds + 1) + 1)
  await driver.stop()
  return { rounds, raw, ratios, restart }
}

/** Lets an operator serve one model until it runs and nothing more is written. */
async function recordModel(cluster: ClientConfig): Promise<Recording> {
  const client = createClient(cluster)
  const [namespace = ''] = await bareNamespaces(client, 'recorded', 1)
  const { calls, interceptor } = recorder()
  const readReports = (): Promise<ReadonlyMap<string, never>> => Promise.resolve(new Map<string, never>())
  const operator = startServing({ cluster, namespace, interceptors: [interceptor], readReports, resyncMs: 200 })
  const name = 'recorded'
  const { metadata } = await client.create(modelDeployments, benchModel(namespace, name))
  await until('the recorded model to run', async () => {
    const { status } = await client.get(modelDeployments, { namespace, name })
    return status?.phase === 'Running'
  })
  const since = await operator.passes()
  await until('the recorded model to rest', async () => (await operator.passes()) > since + 5)
  await operator.stop()
  await client.close()
  return { calls: [...calls], namespace, name, uid: metadata.uid ?? '' }
}

/** As many lanes as the operator has. */
async function rawRound(kubeconfig: string, load: ServingLoad, prefix: string, recording: Recording): Promise<number> {
  const replayer = await startReplayer({ kubeconfig, recording, lanes: LANES })
  const seconds = await secondsUntilServed(load, prefix, (model) => replayer.serve(model))
  await replayer.end()
  return seconds
}

async function operatorRound(
  kubeconfig: string,
  load: ServingLoad,
  prefix: string,
  restMs: number,
): Promise<ServingRound> {
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  const served = await callsAtRest(operator)
  const seconds = await secondsUntilServed(load, prefix)
  const done = await callsAtRest(operator)
  await new Promise((resolve) => setTimeout(resolve, restMs))
  const later = await callsOf(operator)
  await operator.stop()
  return { seconds, served, calls: between(served, done), atRest: between(done, later) }
}

async function restarted(kubeconfig: string, models: number): Promise<ServingMeasurement['restart']> {
  const began = performance.now()
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  await until('every model to be looked at', async () => (await callsOf(operator)).passes >= models, PATIENCE_MS)
  const seconds = (performance.now() - began) / 1000
  const calls = await callsAtRest(operator)
  await operator.stop()
  return { seconds, calls }
}
