/** Scenarios of a ModelDeployment. Each must end the same way wherever the operator crashes. */
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import { ABORT_ANNOTATION, PROMOTE_ANNOTATION } from '../../../src/api/serving-rollout.ts'
import { getCondition } from '../../../src/api/conditions.ts'
import { Job, Pod, Service } from '../../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../../src/plan/model-names.ts'
import { versions } from '../../builders/model-deployment.ts'
import { noLongerReady } from '../../fakes/pod-status.ts'
import { servingOutcome } from '../../fakes/routers.ts'
import { healthOf } from '../harness/serving-harness.ts'
import type { Scenario } from './scenario.ts'
import {
  annotate,
  becomes,
  by,
  change,
  create,
  type DefineScenario,
  type Provider,
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

/** Longer than a clock jumps in any plan: the deadline must not end a step before its analysis. */
const progressDeadlineSeconds = 86_400

/** No clients: what the absence of requests means decides how a step ends. */
const rollout = (noTraffic: 'Pass' | 'Fail', steps: readonly object[] = [{ weight: 50 }]) => {
  const analysis = { maxErrorRate: '1%', intervalSeconds: 1, watchSeconds: 1, noTraffic }
  return { rollout: { steps, progressDeadlineSeconds, analysis } as never }
}

const isIn =
  (phase: string) =>
  ({ status }: ModelDeployment): boolean =>
    status?.rollout?.phase === phase

const promotes = scenario('promote a canary', async (context) => {
  await create(context, { ...rollout('Pass'), ...by('router') })
  await serves(context, { v1: 100 }, 'router')
  await change(context, { versions: versions({ v2: 100 }) })
  await becomes(context, 'promoted', isIn('Completed'))
  await serves(context, { v2: 100 }, 'router')
})

const rollsBack = scenario('roll a canary back', async (context) => {
  await create(context, { ...rollout('Fail'), ...by('router') })
  await serves(context, { v1: 100 }, 'router')
  await change(context, { versions: versions({ v2: 100 }) })
  await becomes(context, 'rolled back', isIn('RolledBack'))
  await serves(context, { v1: 100 }, 'router')
})

/** Each step is judged by a Job, which runs once wherever the operator crashes. */
const evaluates = scenario('promote a canary by Jobs', async (context) => {
  const metrics = [{ name: 'accuracy', job: { image: 'example.com/evaluate:1', timeoutSeconds: 600 } }]
  const analysis = { metrics, watchSeconds: 1 }
  const rolling = { rollout: { steps: [{ weight: 50 }], progressDeadlineSeconds, analysis } as never }
  await create(context, { ...rolling, ...by('router') })
  await serves(context, { v1: 100 }, 'router')
  await change(context, { versions: versions({ v2: 100 }) })
  await becomes(context, 'promoted', (model) => isIn('Completed')(model) && model.status?.rollout?.revision === 2)
  await serves(context, { v2: 100 }, 'router')
  await context.until('the Jobs to be gone', () => context.cluster.list(Job).length === 0)
})

const GATE = [{ weight: 50, pause: true }]

/** At its gate, with both versions in the routes. */
const abortsBy = (
  provider: Provider,
  name: string,
  define: DefineScenario,
  spec: ReturnType<typeof rollout>,
): Scenario =>
  define(name, async (context) => {
    await create(context, { ...spec, ...by(provider) })
    await serves(context, { v1: 100 }, provider)
    await change(context, { versions: versions({ v2: 100 }) })
    await becomes(context, 'at its gate', isIn('Paused'))
    await annotate(context, { [ABORT_ANNOTATION]: '2' })
    await becomes(context, 'aborted', isIn('Aborted'))
    await serves(context, { v1: 100 }, provider)
  })

const aborts = abortsBy('router', 'abort a canary', scenario, rollout('Pass', GATE))

/** Without an analysis: nothing counts the requests of these providers here. */
const abortsRouted = (provider: Provider): Scenario =>
  abortsBy(provider, `abort a canary by ${provider}`, routedScenario, {
    rollout: { steps: GATE, progressDeadlineSeconds } as never,
  })

const switching = (blueGreen: object) => ({ rollout: { strategy: 'blueGreen', blueGreen } as never, ...by('router') })

const previewsV2 = ({ metadata, spec }: Service): boolean =>
  metadata.name === 'model-preview' && spec?.selector?.[VERSION_LABEL] === 'v2'

const switchesAtOnce = scenario('switch blue-green', async (context) => {
  await create(context, switching({ pause: true, keepSeconds: 1 }))
  await serves(context, { v1: 100 }, 'router')
  await change(context, { versions: versions({ v2: 100 }) })
  await becomes(context, 'at its gate', isIn('Paused'))
  await context.until('the preview to lead to v2', () => context.cluster.list(Service).some(previewsV2))
  await annotate(context, { [PROMOTE_ANNOTATION]: '2' })
  await becomes(context, 'switched', isIn('Completed'))
  await serves(context, { v2: 100 }, 'router')
  await context.until('the preview to be gone', () => !context.cluster.list(Service).some(previewsV2))
})

const abortsSwitch = scenario('abort a blue-green switch', async (context) => {
  await create(context, switching({ keepSeconds: 600 }))
  await serves(context, { v1: 100 }, 'router')
  await change(context, { versions: versions({ v2: 100 }) })
  await becomes(context, 'switched', isIn('Watching'))
  await annotate(context, { [ABORT_ANNOTATION]: '2' })
  await becomes(context, 'aborted', isIn('Aborted'))
  await serves(context, { v1: 100 }, 'router')
})

const recreates = scenario('recreate', async (context) => {
  await create(context, { rollout: { strategy: 'recreate' } as never, ...by('router') })
  await serves(context, { v1: 100 }, 'router')
  await change(context, { versions: versions({ v2: 100 }) })
  // The first revision is completed, too.
  await becomes(context, 'recreated', (model) => isIn('Completed')(model) && model.status?.rollout?.revision === 2)
  await serves(context, { v2: 100 }, 'router')
})

const often = { healthCheck: { endpoint: '/health', intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 } }

/** One of two pods fails its health check, and the kubelet agrees. */
const replaces = scenario('replace a sick pod', async (context) => {
  await create(context, { ...often, scaling: { minReplicas: 2, maxReplicas: 2 } })
  await serves(context, { v1: 100 }, 'direct')
  const isHealthy = ({ status }: ModelDeployment): boolean => status?.ready === '2/2'
  await becomes(context, 'healthy', isHealthy)
  const sick = context.cluster.list(Pod)[0]?.metadata.uid ?? ''
  healthOf(context.namespace).fail(sick)
  const outcome = servingOutcome()
  context.kubelet.decide((pod) => (pod.metadata.uid === sick ? noLongerReady(pod) : outcome(pod)))
  await becomes(context, 'healthy again', (model) => {
    const health = model.status?.activeVersions?.[0]?.health
    return health?.evictions === 1 && health.evicting === undefined && isHealthy(model)
  })
})

/** On a cluster without Istio and the Gateway API. */
export const servingScenarios: readonly Scenario[] = [
  deploys,
  deploysValidated,
  changesValidated,
  adds,
  ...scenariosFor('router', scenario),
  switches('router', 'replicas', scenario),
  promotes,
  rollsBack,
  evaluates,
  aborts,
  switchesAtOnce,
  abortsSwitch,
  recreates,
  replaces,
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
  abortsRouted('istio'),
  abortsRouted('gateway'),
  routedLifecycle,
]
