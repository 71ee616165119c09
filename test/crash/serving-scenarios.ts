/** The lives of a model that have to survive a death of the operator at any write. */
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
import { servingFate } from '../fake-routers.ts'
import { modelDeployment, type ModelSpecInput, servingRoleOf, versionOf, versions } from '../model-deployment.ts'
import { weightsOf } from '../serving-stage.ts'
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

function scenario(name: string, play: Scenario['play']): Scenario {
  const withServers: Scenario['play'] = async (stage) => {
    stage.kubelet.decide(servingFate())
    await play(stage)
  }
  return { name, primary: modelDeployments, kinds: KINDS, oracles: servingOracles, play: withServers }
}

const current = ({ world }: Stage): ModelDeployment | undefined => world.list(modelDeployments)[0]

const create = ({ client, namespace }: Stage, spec: ModelSpecInput = {}): Promise<ModelDeployment> =>
  client.create(modelDeployments, modelDeployment(namespace, NAME, spec))

const change = ({ client, namespace }: Stage, spec: ModelSpecInput): Promise<ModelDeployment> =>
  client.patch(modelDeployments, { namespace, name: NAME }, { spec })

/** The model that exists now is so, and speaks of the spec that exists now. */
async function becomes(stage: Stage, what: string, holds: (model: ModelDeployment) => boolean): Promise<void> {
  await stage.until(`the model to be ${what}`, () => {
    const model = current(stage)
    return model?.status?.observedGeneration === model?.metadata.generation && model !== undefined && holds(model)
  })
}

/** It runs, divided so, by this provider, and nothing of before is left. */
async function serves(stage: Stage, weights: Record<string, number>, provider: string): Promise<void> {
  const names = Object.keys(weights)
  await becomes(stage, `serving ${JSON.stringify(weights)} by ${provider}`, (model) => {
    const { status } = model
    const isDivided = JSON.stringify(weightsOf(model)) === JSON.stringify(weights)
    const isLed = status?.traffic?.provider === provider && status.traffic.previous === undefined
    const isAlone = status?.activeVersions?.every(({ name }) => names.includes(name)) ?? false
    return status?.phase === 'Running' && isDivided && isLed && isAlone
  })
  await stage.until('only these versions to have pods', () =>
    stage.world.list(Pod).every((pod) => servingRoleOf(pod) !== 'server' || names.includes(versionOf(pod) ?? '')),
  )
}

const router = { provider: 'router' }

const deploys = scenario('model: deploy one version', async (stage) => {
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
})

const deploysValidated = scenario('model: validate, deploy', async (stage) => {
  await create(stage, { validation: { script: 'validate.py', timeoutSeconds: 60 } })
  await serves(stage, { v1: 100 }, 'direct')
})

const deploysTwo = scenario('model: deploy two versions behind a router', async (stage) => {
  await create(stage, { versions: versions({ v1: 90, v2: 10 }), traffic: router })
  await serves(stage, { v1: 90, v2: 10 }, 'router')
})

const adds = scenario('model: add a version', async (stage) => {
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
  await change(stage, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(stage, { v1: 80, v2: 20 }, 'router')
})

const shifts = scenario('model: shift weights', async (stage) => {
  await create(stage, { versions: versions({ v1: 90, v2: 10 }), traffic: router })
  await serves(stage, { v1: 90, v2: 10 }, 'router')
  await change(stage, { versions: versions({ v1: 50, v2: 50 }) })
  await serves(stage, { v1: 50, v2: 50 }, 'router')
  await change(stage, { versions: versions({ v1: 0, v2: 100 }) })
  await becomes(stage, 'all on v2', (model) => weightsOf(model)['v2'] === 100 && model.status?.phase === 'Running')
})

const removes = scenario('model: remove a version', async (stage) => {
  await create(stage, { versions: versions({ v1: 50, v2: 50 }), traffic: router })
  await serves(stage, { v1: 50, v2: 50 }, 'router')
  await change(stage, { versions: versions({ v2: 100 }) })
  await serves(stage, { v2: 100 }, 'router')
})

const replaces = scenario('model: replace the only version', async (stage) => {
  await create(stage, { versions: versions({ v1: 100 }), traffic: router })
  await serves(stage, { v1: 100 }, 'router')
  await change(stage, { versions: versions({ v2: 100 }) })
  await serves(stage, { v2: 100 }, 'router')
})

const switches = scenario('model: switch provider', async (stage) => {
  await create(stage, { traffic: router })
  await serves(stage, { v1: 100 }, 'router')
  await change(stage, { traffic: { provider: 'replicas' } })
  await serves(stage, { v1: 100 }, 'replicas')
  await stage.until('the router to be gone', () =>
    stage.world.list(Pod).every((pod) => servingRoleOf(pod) !== 'router'),
  )
})

const isDeleted = scenario('model: delete', async (stage) => {
  const { client, namespace, world } = stage
  await create(stage, { versions: versions({ v1: 90, v2: 10 }), traffic: router })
  await serves(stage, { v1: 90, v2: 10 }, 'router')
  await client.delete(modelDeployments, { namespace, name: NAME })
  await stage.until('everything to be gone', () => world.all().length === 0)
})

/** One after the other what the others do alone: long, but every step begins in the state that the one before left. */
export const wholeLife = scenario('model: a whole life', async (stage) => {
  const { client, namespace, world } = stage
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
  await change(stage, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(stage, { v1: 80, v2: 20 }, 'router')
  await change(stage, { versions: versions({ v1: 10, v2: 90 }) })
  await serves(stage, { v1: 10, v2: 90 }, 'router')
  await change(stage, { versions: versions({ v2: 100 }), traffic: router })
  await serves(stage, { v2: 100 }, 'router')
  await change(stage, { traffic: { provider: 'replicas' } })
  await serves(stage, { v2: 100 }, 'replicas')
  await client.delete(modelDeployments, { namespace, name: NAME })
  await stage.until('everything to be gone', () => world.all().length === 0)
})

export const servingScenarios: readonly Scenario[] = [
  deploys,
  deploysValidated,
  deploysTwo,
  adds,
  shifts,
  removes,
  replaces,
  switches,
  isDeleted,
  wholeLife,
]
