/** Models routed by Istio and the Gateway API, under faults. On a cluster of its own: other tests must not see these kinds. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { toDelete } from '../../src/decision/plan.ts'
import { objectsToDelete } from '../builders/plans.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { VERSION_LABEL, versionedName } from '../../src/plan/model-names.ts'
import type { ServingObserved } from '../../src/plan/serving/index.ts'
import { planServing } from '../../src/plan/serving/index.ts'
import type { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { destinationsOf, type VirtualService } from '../../src/plan/traffic/providers/istio/kinds.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { campaign } from '../crash/campaign/campaign.ts'
import { crashes, flips, type Plans, sampled, slice } from '../crash/campaign/plans.ts'
import type { Scenario } from '../crash/scenarios/scenario.ts'
import { routedHarness } from '../crash/harness/serving-harness.ts'
import { routedScenarios } from '../crash/scenarios/serving-scenarios.ts'
import { installTrafficKinds } from '../cluster/traffic-crds.ts'

let plane: ControlPlane

before(async () => {
  plane = await startControlPlane()
  const client = createClient(await configFromKubeconfig(plane.kubeconfig))
  await installTrafficKinds(client)
  await client.close()
})

after(() => plane?.stop())

interface Mutant {
  readonly name: string
  readonly scenario: string
  readonly planner: typeof planServing
  readonly found: RegExp
}

const noFault: Plans = () => []

const applying =
  (wrong: (object: KubeObject, observed: ServingObserved) => KubeObject): typeof planServing =>
  (observed) => {
    const plan = planServing(observed)
    const wronged = plan.writes.map((write) =>
      write.how === 'apply' ? { ...write, object: wrong(write.object, observed) } : write,
    )
    return { ...plan, writes: wronged }
  }

const mutants: readonly Mutant[] = [
  {
    name: 'weights that do not sum to 100',
    scenario: 'deploy two versions by istio',
    planner: applying((object) => {
      if (object.kind !== 'VirtualService') return object
      const { spec, ...rest } = object as VirtualService
      const route = destinationsOf(object as VirtualService).map((one) => ({ ...one, weight: (one.weight ?? 0) + 1 }))
      return { ...rest, spec: { ...spec, http: [{ route }] } } as KubeObject
    }),
    found: /S1: VirtualService/,
  },
  {
    name: 'weights of the spec are applied to versions that are not ready',
    scenario: 'replace the only version by gateway',
    planner: applying((object, { model }) => {
      if (object.kind !== 'HTTPRoute') return object
      const { spec, ...rest } = object as HTTPRoute
      const backendRefs = (model as ModelDeployment).spec.versions.map(({ name, weight }) => {
        return { name: versionedName(model, name), port: 8080, weight }
      })
      return { ...rest, spec: { ...spec, rules: [{ backendRefs }] } } as KubeObject
    }),
    found: /S2: HTTPRoute/,
  },
  {
    name: 'a version is deleted together with its entry in the spec',
    scenario: 'remove a version by istio',
    planner: (observed) => {
      const plan = planServing(observed)
      const wanted = (observed.model as ModelDeployment).spec.versions.map(({ name }) => name)
      const isLeft = ({ metadata }: KubeObject): boolean => {
        const version = metadata.labels?.[VERSION_LABEL]
        return version !== undefined && !wanted.includes(version)
      }
      const planned = objectsToDelete(plan)
      const left = observed.deployments.filter((one) => isLeft(one) && !planned.includes(one))
      return { ...plan, deletions: [...plan.deletions, ...toDelete('graceful', left)] }
    },
    found: /S4: Deployment.* VirtualService/,
  },
]

/** One plan in this many, of two scenarios; `scripts/faults.ts` runs all. */
const SLICE = 16
const SAMPLE = ['remove a version by gateway', 'switch provider from istio to gateway']

function scenarioOf(part: string): Scenario {
  const scenario = routedScenarios.find(({ name }) => name.includes(part))
  assert.ok(scenario, part)
  return scenario
}

describe('a model with routes', { concurrency: true }, () => {
  for (const part of SAMPLE) {
    test(`recovers when it is killed at a write: ${part}`, async (t) => {
      const harness = await routedHarness(plane.kubeconfig, {
        parallel: 4,
        stepPatienceMs: 180_000,
        patienceMs: 180_000,
      })
      t.after(() => harness.close())
      const report = await campaign(harness, scenarioOf(part), slice(crashes, { every: SLICE, from: 4 }))
      const { plans, crashes: crashCount, writes, violations } = report
      t.diagnostic(`${plans} plans, ${crashCount} crashes, ${writes} writes, ${violations.length} violations`)
      assert.deepEqual(violations, [])
    })
  }

  test('survives a cluster that does not serve the kinds of traffic providers for a while', async (t) => {
    const harness = await routedHarness(plane.kubeconfig, { parallel: 4, stepPatienceMs: 180_000, patienceMs: 180_000 })
    t.after(() => harness.close())
    const report = await campaign(harness, scenarioOf('shift weights by istio'), sampled(flips, 4))
    t.diagnostic(`${report.plans} plans, ${report.violations.length} violations`)
    assert.deepEqual(report.violations, [])
  })

  for (const { name, scenario: part, planner, found } of mutants) {
    test(`catches a planted bug: ${name}`, async (t) => {
      const harness = await routedHarness(plane.kubeconfig, { parallel: 2, patienceMs: 6_000 }, planner)
      t.after(() => harness.close())
      const { violations } = await campaign(harness, scenarioOf(part), noFault)
      assert.ok(
        violations.some((violation) => found.test(violation)),
        `not caught: ${violations.join('\n')}`,
      )
    })
  }
})
