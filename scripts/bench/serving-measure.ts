/**
 * Measures the cost of a model of two versions: API writes and reads until it runs, once converged and after a restart, and the time
 * as a ratio to the same writes sent without an operator. Rounds with and without the operator alternate, and each operator round
 * is compared with its two neighbours.
 */
import { modelDeployments } from '../../src/api/kinds.ts'
import { createClient } from '../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../src/kube/config.ts'
import { installApi } from '../../test/cluster/api.ts'
import { startServing } from '../../test/operator/serving-operator.ts'
import { installTrafficKinds } from '../../test/cluster/traffic-crds.ts'
import { until } from '../../test/timing/until.ts'
import { startDeploymentDriver } from './deployment-driver.ts'
import { startEndpointsDriver } from './endpoints-driver.ts'
import { type OperatorRound, operatorRound, ratiosToRaw, type Restart, restarted } from './operator-round.ts'
import { type Recording, recorder } from './recording.ts'
import { startReplayer } from './replayer.ts'
import { bareNamespaces, benchModel, secondsUntilServed, type ServingLoad } from './serving-load.ts'

export interface ServingSizes {
  /** Models of each round. */
  readonly models: number
  readonly rounds: number
  /** How long to check that nothing is written once converged. */
  readonly restMs: number
}

export interface ServingMeasurement {
  readonly rounds: readonly OperatorRound[]
  readonly raw: readonly number[]
  readonly ratios: readonly number[]
  readonly restart: Restart
}

const LANES = 16

/** Needs a control plane without a controller manager: fake controllers report Deployments and endpoints, without pods. */
export async function measureServing(kubeconfig: string, sizes: ServingSizes): Promise<ServingMeasurement> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  await installTrafficKinds(client)
  await client.close()
  const load: ServingLoad = { cluster, models: sizes.models }
  const drivers = [startDeploymentDriver(cluster), startEndpointsDriver(cluster)]
  const recording = await recordModel(cluster)
  const raw = [await rawRound(kubeconfig, load, 'raw-0', recording)]
  const rounds: OperatorRound[] = []
  for (let round = 1; round <= sizes.rounds; round += 1) {
    rounds.push(await operatorRound(kubeconfig, () => secondsUntilServed(load, `operated-${round}`), sizes.restMs))
    raw.push(await rawRound(kubeconfig, load, `raw-${round}`, recording))
  }
  const ratios = ratiosToRaw(rounds, raw)
  const restart = await restarted(kubeconfig, sizes.models * (2 * sizes.rounds + 1) + 1)
  await Promise.all(drivers.map((driver) => driver.stop()))
  return { rounds, raw, ratios, restart }
}

/** Records an operator with one model until it runs and nothing more is written. */
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
  await until('the recorded model to converge', async () => (await operator.passes()) > since + 5)
  await operator.stop()
  await client.close()
  return { calls: [...calls], namespace, name, uid: metadata.uid ?? '' }
}

/** With as many lanes as the operator has workers. */
async function rawRound(kubeconfig: string, load: ServingLoad, prefix: string, recording: Recording): Promise<number> {
  const replayer = await startReplayer({ kubeconfig, recording, lanes: LANES })
  const seconds = await secondsUntilServed(load, prefix, (model) => replayer.serve(model))
  await replayer.end()
  return seconds
}
