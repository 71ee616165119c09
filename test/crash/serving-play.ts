/** What users do with a model, and what they wait for: the words that the scenarios of serving are told in. */
import { modelDeployments } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import type { Resource } from '../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { DestinationRule, HTTPRoute, VirtualService } from '../../src/plan/traffic/kinds.ts'
import { servingFate } from '../fake-routers.ts'
import { modelDeployment, type ModelSpecInput, servingRoleOf, versionOf, versions } from '../model-deployment.ts'
import { weightsOf } from '../serving-stage.ts'
import { trafficKinds } from '../traffic-kinds.ts'
import type { Scenario, Stage } from './run.ts'
import { UNSEEN } from './serving-lab.ts'
import { servingOracles } from './serving-oracles.ts'

const NAME = 'model'

const ReplicaSet: Resource = {
  group: 'apps',
  version: 'v1',
  kind: UNSEEN,
  plural: 'replicasets',
  namespaced: true,
}

const KINDS = [ReplicaSet, Pod, Deployment, Service, ConfigMap, HorizontalPodAutoscaler, PodDisruptionBudget, Job]

export type Director = (name: string, play: Scenario['play']) => Scenario

const directed =
  (kinds: readonly Resource[]): Director =>
  (name, play) => ({
    name: `model: ${name}`,
    primary: modelDeployments,
    kinds,
    oracles: servingOracles,
    play: async (stage) => {
      stage.kubelet.decide(servingFate())
      await play(stage)
    },
  })

/** A scenario on a cluster that has nothing to divide traffic with. */
export const scenario = directed(KINDS)
/** A scenario on a cluster that has Istio and the Gateway API. */
export const routedScenario = directed([...KINDS, ...trafficKinds])

export const create = ({ client, namespace }: Stage, spec: ModelSpecInput = {}): Promise<ModelDeployment> =>
  client.create(modelDeployments, modelDeployment(namespace, NAME, spec))

export const change = ({ client, namespace }: Stage, spec: ModelSpecInput): Promise<ModelDeployment> =>
  client.patch(modelDeployments, { namespace, name: NAME }, { spec })

export async function remove({ client, namespace, world, until }: Stage): Promise<void> {
  await client.delete(modelDeployments, { namespace, name: NAME })
  await until('everything to be gone', () => world.all().length === 0)
}

export type Provider = 'router' | 'replicas' | 'istio' | 'gateway'

/** What a spec says to be led so, whatever it said before. */
export function by(provider: Provider): { readonly traffic: object } {
  return { traffic: { provider, gateways: provider === 'gateway' ? ['public'] : null } }
}

/** The model that exists now is so, and speaks of the spec that exists now. */
export async function becomes(stage: Stage, what: string, holds: (model: ModelDeployment) => boolean): Promise<void> {
  await stage.until(`the model to be ${what}`, () => {
    const model = stage.world.list(modelDeployments)[0]
    return model?.status?.observedGeneration === model?.metadata.generation && model !== undefined && holds(model)
  })
}

/** It runs, divided so, in this way, and nothing of before is left. */
export async function serves(stage: Stage, weights: Record<string, number>, way: string): Promise<void> {
  const names = Object.keys(weights)
  await becomes(stage, `serving ${JSON.stringify(weights)} by ${way}`, (model) => {
    const { status } = model
    const isDivided = JSON.stringify(weightsOf(model)) === JSON.stringify(weights)
    const isLed = status?.traffic?.provider === way && status.traffic.previous === undefined
    const isAlone = status?.activeVersions?.every(({ name }) => names.includes(name)) ?? false
    return status?.phase === 'Running' && isDivided && isLed && isAlone
  })
  await stage.until('only these versions to have pods', () =>
    stage.world.list(Pod).every((pod) => servingRoleOf(pod) !== 'server' || names.includes(versionOf(pod) ?? '')),
  )
  await stage.until(`nothing to be left of other ways than ${way}`, () => waysOf(stage).every((left) => left === way))
}

function waysOf({ world }: Stage): string[] {
  return [
    ...world.list(Pod).flatMap((pod) => (servingRoleOf(pod) === 'router' ? ['router'] : [])),
    ...[...world.list(VirtualService), ...world.list(DestinationRule)].map(() => 'istio'),
    ...world.list(HTTPRoute).map(() => 'gateway'),
  ]
}

/** What has to hold whoever divides the traffic. */
export function livesBy(provider: Provider, told: Director): Scenario[] {
  const begins = async (stage: Stage, weights: Record<string, number>): Promise<void> => {
    await create(stage, { versions: versions(weights), ...by(provider) })
    await serves(stage, weights, provider)
  }
  return [
    told(`deploy two versions by ${provider}`, (stage) => begins(stage, { v1: 90, v2: 10 })),
    told(`shift weights by ${provider}`, async (stage) => {
      await begins(stage, { v1: 90, v2: 10 })
      await change(stage, { versions: versions({ v1: 50, v2: 50 }) })
      await serves(stage, { v1: 50, v2: 50 }, provider)
      await change(stage, { versions: versions({ v1: 0, v2: 100 }) })
      await becomes(stage, 'all on v2', (model) => weightsOf(model)['v2'] === 100 && model.status?.phase === 'Running')
    }),
    told(`remove a version by ${provider}`, async (stage) => {
      await begins(stage, { v1: 50, v2: 50 })
      await change(stage, { versions: versions({ v2: 100 }) })
      await serves(stage, { v2: 100 }, provider)
    }),
    told(`replace the only version by ${provider}`, async (stage) => {
      await begins(stage, { v1: 100 })
      await change(stage, { versions: versions({ v2: 100 }) })
      await serves(stage, { v2: 100 }, provider)
    }),
    told(`delete by ${provider}`, async (stage) => {
      await begins(stage, { v1: 90, v2: 10 })
      await remove(stage)
    }),
  ]
}

export function switches(from: Provider, to: Provider, told: Director): Scenario {
  return told(`switch provider from ${from} to ${to}`, async (stage) => {
    await create(stage, { versions: versions({ v1: 50, v2: 50 }), ...by(from) })
    await serves(stage, { v1: 50, v2: 50 }, from)
    await change(stage, by(to))
    await serves(stage, { v1: 50, v2: 50 }, to)
  })
}
