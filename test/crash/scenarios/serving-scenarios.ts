/** Scenarios of a ModelDeployment. Each must end the same way wherever the operator crashes. */
import { getCondition } from '../../../src/api/conditions.ts'
import { Pod } from '../../../src/kube/resources.ts'
import { versions } from '../../builders/model-deployment.ts'
import type { Scenario } from './scenario.ts'
import {
  becomes,
  by,
  change,
  create,
  scenariosFor,
  remove,
  routedScenario,
  scenario,
  serves,
  switches,
} from './serving-steps.ts'

const deploys = scenario('deploy one version', async (context) => {
  await create(context)
  await serves(context, { v1: 100 }, 'direct')
})

const deploysValidated = scenario('validate, deploy', async (context) => {
  await create(context, { validation: { script: 'validate.py', timeoutSeconds: 60 } })
  await serves(context, { v1: 100 }, 'direct')
})

/** Changes the image at the same path. The new image serves only after its own validation. */
const changesValidated = scenario('validate, change, validate again', async (context) => {
  await create(context, { validation: { script: 'validate.py', timeoutSeconds: 60 } })
  await serves(context, { v1: 100 }, 'direct')
  await change(context, { image: 'example.com/server:2' })
  await serves(context, { v1: 100 }, 'direct')
  await context.until('only pods of the new image', () =>
    context.cluster.list(Pod).every((pod) => pod.spec?.containers[0]?.image === 'example.com/server:2'),
  )
  await becomes(
    context,
    'rolled out',
    ({ status }) => getCondition(status?.conditions, 'Progressing')?.status === 'False',
  )
})

const adds = scenario('add a version', async (context) => {
  await create(context)
  await serves(context, { v1: 100 }, 'direct')
  await change(context, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(context, { v1: 80, v2: 20 }, 'router')
})

/** The steps of the other scenarios in a row: every step begins in the state that the previous one left. */
export const fullLifecycle = scenario('full lifecycle', async (context) => {
  await create(context)
  await serves(context, { v1: 100 }, 'direct')
  await change(context, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(context, { v1: 80, v2: 20 }, 'router')
  await change(context, { versions: versions({ v1: 10, v2: 90 }) })
  await serves(context, { v1: 10, v2: 90 }, 'router')
  await change(context, { versions: versions({ v2: 100 }), ...by('router') })
  await serves(context, { v2: 100 }, 'router')
  await change(context, by('replicas'))
  await serves(context, { v2: 100 }, 'replicas')
  await remove(context)
})

/** On a cluster without Istio and the Gateway API. */
export const servingScenarios: readonly Scenario[] = [
  deploys,
  deploysValidated,
  changesValidated,
  adds,
  ...scenariosFor('router', scenario),
  switches('router', 'replicas', scenario),
  fullLifecycle,
]

/** The full lifecycle on a cluster with every provider. */
const routedLifecycle = routedScenario('full lifecycle with routes', async (context) => {
  await create(context)
  await serves(context, { v1: 100 }, 'direct')
  await change(context, { versions: versions({ v1: 80, v2: 20 }) })
  await serves(context, { v1: 80, v2: 20 }, 'istio')
  await change(context, { versions: versions({ v2: 60, v3: 40 }), ...by('gateway') })
  await serves(context, { v2: 60, v3: 40 }, 'gateway')
  await change(context, { versions: versions({ v3: 100 }), ...by('router') })
  await serves(context, { v3: 100 }, 'router')
  await change(context, by('istio'))
  await serves(context, { v3: 100 }, 'istio')
  await remove(context)
})

/** On a cluster with Istio and the Gateway API. */
export const routedScenarios: readonly Scenario[] = [
  ...scenariosFor('istio', routedScenario),
  ...scenariosFor('gateway', routedScenario),
  switches('router', 'istio', routedScenario),
  switches('istio', 'gateway', routedScenario),
  switches('gateway', 'router', routedScenario),
  routedLifecycle,
]
