/** Zero violations prove little unless the oracles can see: each bug planted here must be caught, by the oracle it offends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTE_ANNOTATION, type RouteEntry } from '../../api/router-report.ts'
import type { ModelDeployment } from '../../api/modeldeployment.v1.ts'
import { type PlannedWrite, toDelete } from '../../decision/plan.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Deployment, Service } from '../../kube/resources.ts'
import { objectsToDelete, objectsToWrite } from '../../../test/builders/plans.ts'
import type { Planner } from '../../../test/sim/serving-cluster.ts'
import { play } from '../../../test/sim/serving-history.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../model-names.ts'
import { REPLICAS_ANNOTATION } from './objects/deployment.ts'
import type { ServingObserved } from './observe/observed.ts'
import { planServing } from './plan.ts'
import type { ServingPlan } from './serving-plan.ts'

interface Bug {
  readonly name: string
  readonly oracle: RegExp
  readonly planner: Planner
}

/** The planner sees something that is not so. */
const seeing =
  (wrong: (observed: ServingObserved) => ServingObserved): Planner =>
  (observed) =>
    planServing(wrong(observed))

/** The planner decides something else. */
const deciding =
  (wrong: (plan: ServingPlan, observed: ServingObserved) => Partial<ServingPlan>): Planner =>
  (observed) => {
    const plan = planServing(observed)
    return { ...plan, ...wrong(plan, observed) }
  }

const applying = (wrong: (object: KubeObject, observed: ServingObserved) => KubeObject): Planner =>
  deciding(({ writes: planned }, observed) => ({
    writes: planned.map((write) =>
      write.how === 'apply' ? { ...write, object: wrong(write.object, observed) } : write,
    ),
  }))

const withModel = (observed: ServingObserved, change: (model: ModelDeployment) => object): ServingObserved => {
  const model = observed.model as ModelDeployment
  return { ...observed, model: { ...model, ...change(model) } }
}

const isLeaving = ({ model }: ServingObserved, { metadata }: KubeObject): boolean => {
  const name = metadata.labels?.[VERSION_LABEL]
  return name !== undefined && !(model as ModelDeployment).spec.versions.some((version) => version.name === name)
}

const steered = (change: (route: RouteEntry[]) => RouteEntry[]): Planner =>
  deciding(({ writes: planned }) => ({
    writes: planned.map((write) => {
      if (write.how !== 'annotate') return write
      const route = JSON.parse(write.annotations[ROUTE_ANNOTATION] ?? '[]') as RouteEntry[]
      return { ...write, annotations: { [ROUTE_ANNOTATION]: JSON.stringify(change(route)) } }
    }),
  }))

/** Deletes these too, unless the plan does already. */
const deleting = (plan: ServingPlan, objects: readonly KubeObject[]): Partial<ServingPlan> => {
  const planned = objectsToDelete(plan)
  const more = objects.filter((object) => !planned.includes(object))
  return { deletions: [...plan.deletions, ...toDelete('graceful', more)] }
}

/** Where the Service leads to server pods. */
const toRouter = (service: Service): Service => {
  const selector = { [MODEL_UID_LABEL]: service.metadata.labels?.[MODEL_UID_LABEL] ?? '', [ROLE_LABEL]: 'router' }
  return { ...service, spec: { ...service.spec, selector } }
}

let writes = 0

const bugs: readonly Bug[] = [
  {
    name: 'weights that sum to 101',
    oracle: /S1/,
    planner: steered((route) => route.map((entry) => ({ ...entry, weight: entry.weight > 0 ? entry.weight + 1 : 0 }))),
  },
  {
    name: 'every version counts as ready',
    oracle: /S2|G3/,
    planner: seeing((observed) => ({
      ...observed,
      deployments: observed.deployments.map((one) => {
        const availableReplicas = Math.max(1, one.status?.availableReplicas ?? 0)
        return { ...one, status: { ...one.status, availableReplicas } }
      }),
    })),
  },
  {
    name: 'the spec counts at once, ready or not',
    oracle: /S2/,
    planner: (observed) => {
      const weights = new Map(
        (observed.model as ModelDeployment).spec.versions.map(({ name, weight }) => [name, weight]),
      )
      const wanted = (entry: RouteEntry): RouteEntry => ({ ...entry, weight: weights.get(entry.version) ?? 0 })
      // Only where the route has every version of the spec: an incomplete sum would offend S1 instead.
      const isWhole = (route: RouteEntry[]): boolean => route.reduce((sum, { weight }) => sum + weight, 0) === 100
      return steered((route) => (isWhole(route.map(wanted)) ? route.map(wanted) : route))(observed)
    },
  },
  {
    name: 'a version runs before its validation has ended',
    oracle: /S7/,
    planner: seeing((observed) => withModel(observed, ({ spec: { validation: _validation, ...spec } }) => ({ spec }))),
  },
  {
    name: 'no time to drain',
    oracle: /S4.*after its last requests/,
    planner: seeing((observed) =>
      withModel(observed, ({ spec }) => ({ spec: { ...spec, traffic: { ...spec.traffic, drainSeconds: 0 } } })),
    ),
  },
  {
    name: 'the desired route of a router counts as in effect',
    oracle: /S4/,
    planner: seeing((observed) => {
      const reports = observed.traffic.proxies
        .flatMap(({ pods }) => pods)
        .map(({ metadata }) => {
          const route = JSON.parse(metadata.annotations?.[ROUTE_ANNOTATION] ?? '[]') as RouteEntry[]
          const none = { requests: 0, errors: 0, latencyMsSum: 0 }
          return [
            metadata.uid ?? '',
            { startedAt: 0, versions: route.map((entry) => ({ ...entry, ...none })) },
          ] as const
        })
      return { ...observed, traffic: { ...observed.traffic, reports: new Map(reports) } }
    }),
  },
  {
    name: 'a version goes with its entry in the spec',
    oracle: /S[45]/,
    planner: deciding((plan, observed) =>
      deleting(
        plan,
        observed.deployments.filter((one) => isLeaving(observed, one)),
      ),
    ),
  },
  {
    name: 'a version without traffic goes, even if no other is ready',
    oracle: /S[45]/,
    planner: deciding((plan, observed) => {
      const isUnused = ({ metadata }: Deployment): boolean => {
        const name = metadata.labels?.[VERSION_LABEL]
        return plan.status?.activeVersions?.some((one) => one.name === name && one.weight === 0) ?? false
      }
      const isServed = observed.deployments.some(
        (one) => !isLeaving(observed, one) && (one.status?.availableReplicas ?? 0) > 0,
      )
      const unused = observed.deployments.filter((one) => isLeaving(observed, one) && isUnused(one))
      return isServed ? {} : deleting(plan, unused)
    }),
  },
  {
    name: 'the Service is switched before the router routes',
    oracle: /S4.*dead router/,
    planner: deciding((plan, { traffic: { reports } }) => {
      const isRouter = ({ kind, metadata }: KubeObject) => kind === 'Deployment' && metadata.name.endsWith('-router')
      const turned = (write: PlannedWrite): PlannedWrite =>
        write.object.metadata.name.endsWith('-service') ? { ...write, object: toRouter(write.object) } : write
      const isSilent = reports.size === 0
      return isSilent && objectsToWrite(plan).some(isRouter) ? { writes: plan.writes.map(turned) } : {}
    }),
  },
  {
    name: 'the router goes once another provider is wanted',
    oracle: /S4.*router/,
    planner: deciding((plan, { traffic: { proxies } }) => {
      const router = proxies[0]?.deployment
      return router && plan.status?.traffic?.provider !== 'router' ? deleting(plan, [router]) : {}
    }),
  },
  {
    name: 'a route goes while it carries traffic',
    oracle: /S4.*(VirtualService|HTTPRoute)/,
    planner: deciding((plan, { traffic: { routes } }) => (plan.deletions.length > 0 ? deleting(plan, routes) : {})),
  },
  {
    name: 'since when a version is idle is forgotten',
    oracle: /G[56]/,
    planner: deciding(({ status }) => ({
      status: { ...status, activeVersions: status?.activeVersions?.map(({ idleSince: _idle, ...one }) => one) ?? [] },
    })),
  },
  {
    name: 'the switch of providers is never recorded',
    oracle: /G[56]/,
    planner: deciding(({ status }, { model }) => ({
      status: { ...status, ...(model.status?.traffic && { traffic: model.status.traffic }) },
    })),
  },
  {
    name: 'a number of pods that only we have set is no longer set',
    oracle: /S4.*pods/,
    planner: applying((object, { autoscalers }) => {
      if (object.kind !== 'Deployment' || autoscalers.length === 0) return object
      const { spec, metadata } = object as Deployment
      const { replicas: _replicas, ...rest } = spec ?? {}
      const { annotations: _annotations, ...meta } = metadata
      return metadata.annotations?.[REPLICAS_ANNOTATION] === undefined
        ? object
        : ({ ...object, metadata: meta, spec: rest } as KubeObject)
    }),
  },
  {
    name: 'always Ready',
    oracle: /G3/,
    planner: deciding(({ status }) => ({
      status: { ...status, conditions: status?.conditions?.map((one) => ({ ...one, status: 'True' as const })) ?? [] },
    })),
  },
  {
    name: 'a generation that does not exist yet',
    oracle: /G3/,
    planner: deciding(({ status }) => ({
      status: { ...status, observedGeneration: (status?.observedGeneration ?? 0) + 1 },
    })),
  },
  {
    name: 'an object without our label',
    oracle: /G2/,
    planner: applying((object) => ({ ...object, metadata: { ...object.metadata, labels: {} } })),
  },
  {
    name: 'a plan that is never the same twice',
    oracle: /G6/,
    planner: applying((object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { at: String((writes += 1)) } },
    })),
  },
  {
    name: 'traffic that the status does not account for',
    oracle: /S1.*status/,
    planner: deciding(({ status }) => ({
      status: {
        ...status,
        activeVersions: status?.activeVersions?.map((one) => ({ ...one, weight: Math.min(50, one.weight ?? 0) })) ?? [],
      },
    })),
  },
]

const MOST = 400

function caughtAt({ planner }: Bug): { readonly seed: number; readonly message: string } | undefined {
  for (let seed = 1; seed <= MOST; seed += 1) {
    try {
      play(seed, planner)
    } catch (error) {
      return { seed, message: error instanceof Error ? error.message : String(error) }
    }
  }
  return undefined
}

for (const bug of bugs) {
  test(`planted bug: ${bug.name}`, (t) => {
    const caught = caughtAt(bug)
    assert.ok(caught, `not caught in ${MOST} histories`)
    assert.match(caught.message, bug.oracle)
    t.diagnostic(`caught by history ${caught.seed}: ${caught.message.split('\n')[0]}`)
  })
}
