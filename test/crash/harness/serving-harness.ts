import type { KubeObject } from '../../../src/kube/object.ts'
import { MODEL_UID_LABEL, VERSION_LABEL } from '../../../src/plan/model-names.ts'
import type { ServingOptions } from '../../../src/reconcile/serving.ts'
import { FakeGateway } from '../../fakes/gateway.ts'
import { FakeHealth } from '../../fakes/pod-health.ts'
import { FakeRouters } from '../../fakes/routers.ts'
import { startServing } from '../../operator/serving-operator.ts'
import { areTrafficKindsServed, installTrafficKinds, removeTrafficKinds } from '../../cluster/traffic-crds.ts'
import { type HarnessOptions, openHarness } from './harness.ts'
import type { RunningOperator } from './operator-replicas.ts'
import type { Harness } from './plan-run.ts'

/** The routers of each namespace. They outlive the operator. */
const routers = new Map<string, FakeRouters>()

export function routersOf(namespace: string): FakeRouters {
  const known = routers.get(namespace) ?? new FakeRouters()
  routers.set(namespace, known)
  return known
}

/** The health of the pods of each namespace. It outlives the operator. */
const health = new Map<string, FakeHealth>()

export function healthOf(namespace: string): FakeHealth {
  const known = health.get(namespace) ?? new FakeHealth()
  health.set(namespace, known)
  return known
}

/** A kind that the operator does not watch. */
export const UNWATCHED = 'ReplicaSet'

/** Whether the operator watches an object. Of EndpointSlices, it watches those of the model's own Services. */
function isWatched({ kind, metadata: { labels = {} } }: KubeObject): boolean {
  if (kind === 'EndpointSlice') return labels[MODEL_UID_LABEL] !== undefined && labels[VERSION_LABEL] === undefined
  return kind !== UNWATCHED
}

type ServingHarness = Harness & { close(): Promise<void> }
type ServingHarnessOptions = Omit<HarnessOptions, 'start'>
type Planner = ServingOptions['planner']

/** Discovery is rare, because no provider is installed while plans run. */
const DISCOVERY_MS = 10_000

/** A harness for the serving operator; `planner` replaces its own planner. */
export function servingHarness(
  kubeconfig: string,
  options: ServingHarnessOptions,
  planner?: Planner,
): Promise<ServingHarness> {
  return harnessOf(kubeconfig, options, { discoveryMs: DISCOVERY_MS, ...(planner && { planner }) })
}

function harnessOf(
  kubeconfig: string,
  options: ServingHarnessOptions,
  serving: Pick<ServingOptions, 'planner' | 'discoveryMs'>,
): Promise<ServingHarness> {
  return openHarness(kubeconfig, {
    ...options,
    start: (program): RunningOperator => {
      const readReports = routersOf(program.namespace).read
      const healthChecks = healthOf(program.namespace).start()
      const operator = startServing({ ...program, readReports, healthChecks, ...serving })
      return { ...operator, hasSeen: (objects) => operator.hasSeen(objects.filter(isWatched)) }
    },
  })
}

/** The same on a cluster with the kinds of Istio and the Gateway API, and with a Gateway in every namespace. */
export async function routedHarness(
  kubeconfig: string,
  options: ServingHarnessOptions,
  planner?: Planner,
): Promise<ServingHarness> {
  const harness = await harnessOf(kubeconfig, options, planner ? { planner } : {})
  const werePresent = await areTrafficKindsServed(harness.client)
  if (!werePresent) await installTrafficKinds(harness.client)
  return {
    ...harness,
    startNeighbour: (namespace) => new FakeGateway(harness.client, namespace),
    close: async () => {
      if (!werePresent && !options.isDisposable) await removeTrafficKinds(harness.client)
      await harness.close()
    },
  }
}
