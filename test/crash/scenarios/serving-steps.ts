/** The steps of serving scenarios: what users do with a model, and what they wait for. */
import { modelDeployments } from '../../../src/api/kinds.ts'
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import type { Resource } from '../../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Job,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../../src/kube/resources.ts'
import { HTTPRoute } from '../../../src/plan/traffic/providers/gateway/kinds.ts'
import { DestinationRule, VirtualService } from '../../../src/plan/traffic/providers/istio/kinds.ts'
import { servingOutcome } from '../../fakes/routers.ts'
import {
  modelDeployment,
  type ModelSpecInput,
  servingRoleOf,
  versionOf,
  versions,
} from '../../builders/model-deployment.ts'
import { weightsOf } from '../../fixtures/serving.ts'
import { trafficKinds } from '../../cluster/traffic-crds.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'
import { UNWATCHED } from '../harness/serving-harness.ts'
import { servingOracles } from '../oracles/serving-oracles.ts'

const NAME = 'model'

const ReplicaSet: Resource = {
  group: 'apps',
  version: 'v1',
  kind: UNWATCHED,
  plural: 'replicasets',
  namespaced: true,
}

const KINDS = [
  ReplicaSet,
  Pod,
  Deployment,
  Service,
  ConfigMap,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  Job,
  EndpointSlice,
]

export type DefineScenario = (name: string, run: Scenario['run']) => Scenario

const scenariosWatching =
  (kinds: readonly Resource[]): DefineScenario =>
  (name, run) => ({
    name: `model: ${name}`,
    primary: modelDeployments,
    kinds,
    oracles: servingOracles,
    run: async (context) => {
      context.kubelet.decide(servingOutcome())
      await run(context)
    },
  })

/** Defines a scenario on a cluster without Istio and the Gateway API. */
export const scenario = scenariosWatching(KINDS)
/** Defines a scenario on a cluster with Istio and the Gateway API. */
export const routedScenario = scenariosWatching([...KINDS, ...trafficKinds])

export const create = ({ client, namespace }: ScenarioContext, spec: ModelSpecInput = {}): Promise<ModelDeployment> =>
  client.create(modelDeployments, modelDeployment(namespace, NAME, spec))

export const change = ({ client, namespace }: ScenarioContext, spec: ModelSpecInput): Promise<ModelDeployment> =>
  client.patch(modelDeployments, { namespace, name: NAME }, { spec })

export const annotate = (
  { client, namespace }: ScenarioContext,
  annotations: Readonly<Record<string, string>>,
): Promise<ModelDeployment> => client.patch(modelDeployments, { namespace, name: NAME }, { metadata: { annotations } })

export async function remove({ client, namespace, cluster, until }: ScenarioContext): Promise<void> {
  await client.delete(modelDeployments, { namespace, name: NAME })
  await until('everything to be gone', () => cluster.all().length === 0)
}

export type Provider = 'router' | 'replicas' | 'istio' | 'gateway'

/** The part of a spec that selects a provider, whatever was set before. */
export function by(provider: Provider): { readonly traffic: object } {
  return { traffic: { provider, gateways: provider === 'gateway' ? ['public'] : null } }
}

/** Waits until the predicate holds for the model and its status is of the current generation. */
export async function becomes(
  context: ScenarioContext,
  what: string,
  holds: (model: ModelDeployment) => boolean,
): Promise<void> {
  await context.until(`the model to be ${what}`, () => {
    const model = context.cluster.list(modelDeployments)[0]
    return model?.status?.observedGeneration === model?.metadata.generation && model !== undefined && holds(model)
  })
}

/** Waits until the model runs with these weights and this provider, and nothing is left of other versions and providers. */
export async function serves(
  context: ScenarioContext,
  weights: Record<string, number>,
  provider: string,
): Promise<void> {
  const names = Object.keys(weights)
  await becomes(context, `serving ${JSON.stringify(weights)} by ${provider}`, (model) => {
    const { status } = model
    const hasWeights = JSON.stringify(weightsOf(model)) === JSON.stringify(weights)
    const isInEffect = status?.traffic?.provider === provider && status.traffic.previous === undefined
    const hasNoOther = status?.activeVersions?.every(({ name }) => names.includes(name)) ?? false
    return status?.phase === 'Running' && isReady(model) && hasWeights && isInEffect && hasNoOther
  })
  await context.until('only these versions to have pods', () =>
    context.cluster.list(Pod).every((pod) => servingRoleOf(pod) !== 'server' || names.includes(versionOf(pod) ?? '')),
  )
  await context.until(`no objects of other providers than ${provider}`, () =>
    providersOf(context).every((left) => left === provider),
  )
}

export const isReady = ({ status }: ModelDeployment): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false

function providersOf({ cluster }: ScenarioContext): string[] {
  return [
    ...cluster.list(Pod).flatMap((pod) => (servingRoleOf(pod) === 'router' ? ['router'] : [])),
    ...[...cluster.list(VirtualService), ...cluster.list(DestinationRule)].map(() => 'istio'),
    ...cluster.list(HTTPRoute).map(() => 'gateway'),
  ]
}

/** Scenarios that every provider runs. */
export function scenariosFor(provider: Provider, define: DefineScenario): Scenario[] {
  const deploy = async (context: ScenarioContext, weights: Record<string, number>): Promise<void> => {
    await create(context, { versions: versions(weights), ...by(provider) })
    await serves(context, weights, provider)
  }
  return [
    define(`deploy two versions by ${provider}`, (context) => deploy(context, { v1: 90, v2: 10 })),
    define(`shift weights by ${provider}`, async (context) => {
      await deploy(context, { v1: 90, v2: 10 })
      await change(context, { versions: versions({ v1: 50, v2: 50 }) })
      await serves(context, { v1: 50, v2: 50 }, provider)
      await change(context, { versions: versions({ v1: 0, v2: 100 }) })
      await becomes(
        context,
        'all on v2',
        (model) => weightsOf(model)['v2'] === 100 && model.status?.phase === 'Running',
      )
    }),
    define(`remove a version by ${provider}`, async (context) => {
      await deploy(context, { v1: 50, v2: 50 })
      await change(context, { versions: versions({ v2: 100 }) })
      await serves(context, { v2: 100 }, provider)
    }),
    define(`replace the only version by ${provider}`, async (context) => {
      await deploy(context, { v1: 100 })
      await change(context, { versions: versions({ v2: 100 }) })
      await serves(context, { v2: 100 }, provider)
    }),
    define(`delete by ${provider}`, async (context) => {
      await deploy(context, { v1: 90, v2: 10 })
      await remove(context)
    }),
  ]
}

export function switches(from: Provider, to: Provider, define: DefineScenario): Scenario {
  return define(`switch provider from ${from} to ${to}`, async (context) => {
    await create(context, { versions: versions({ v1: 50, v2: 50 }), ...by(from) })
    await serves(context, { v1: 50, v2: 50 }, from)
    await change(context, by(to))
    await serves(context, { v1: 50, v2: 50 }, to)
  })
}
