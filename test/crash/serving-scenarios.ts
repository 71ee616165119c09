/** The lives of a model that have to survive a death of the operator at any write. */
import { versions } from '../model-deployment.ts'
import type { Scenario } from './run.ts'
import { by, change, create, livesBy, remove, routedScenario, scenario, serves, switches } from './serving-play.ts'

const deploys = scenario('deploy one version', async (stage) => {
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
})

const deploysValidated = scenario('validate, deploy', async (stage) => {
  await create(stage, { validation: { script: 'validate.py', timeoutSeconds: 60 } })
  await serves(stage, { v1: 100 }, 'direct')
})

const adds = scenario('add a version', async (stage) => {
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
  await change(stage, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(stage, { v1: 80, v2: 20 }, 'router')
})

/** One after the other what the others do alone: long, but every step begins in the state that the one before left. */
export const wholeLife = scenario('a whole life', async (stage) => {
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
  await change(stage, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(stage, { v1: 80, v2: 20 }, 'router')
  await change(stage, { versions: versions({ v1: 10, v2: 90 }) })
  await serves(stage, { v1: 10, v2: 90 }, 'router')
  await change(stage, { versions: versions({ v2: 100 }), ...by('router') })
  await serves(stage, { v2: 100 }, 'router')
  await change(stage, by('replicas'))
  await serves(stage, { v2: 100 }, 'replicas')
  await remove(stage)
})

/** On a cluster that has nothing to divide traffic with. */
export const servingScenarios: readonly Scenario[] = [
  deploys,
  deploysValidated,
  adds,
  ...livesBy('router', scenario),
  switches('router', 'replicas', scenario),
  wholeLife,
]

/** The same for a model that goes through all that a cluster may have. */
const routedLife = routedScenario('a whole life with routes', async (stage) => {
  await create(stage)
  await serves(stage, { v1: 100 }, 'direct')
  await change(stage, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(stage, { v1: 80, v2: 20 }, 'istio')
  await change(stage, { versions: versions({ v2: 60, v3: 40 }), ...by('gateway') })
  await serves(stage, { v2: 60, v3: 40 }, 'gateway')
  await change(stage, { versions: versions({ v3: 100 }), ...by('router') })
  await serves(stage, { v3: 100 }, 'router')
  await change(stage, by('istio'))
  await serves(stage, { v3: 100 }, 'istio')
  await remove(stage)
})

/** On a cluster that has Istio and the Gateway API. */
export const routedScenarios: readonly Scenario[] = [
  ...livesBy('istio', routedScenario),
  ...livesBy('gateway', routedScenario),
  switches('router', 'istio', routedScenario),
  switches('istio', 'gateway', routedScenario),
  switches('gateway', 'router', routedScenario),
  routedLife,
]
