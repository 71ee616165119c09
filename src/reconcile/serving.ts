/**
 * The serving controllers, one for the ModelDeployment of each API group: gather → plan → commit, for one model at a time.
 * Every decision is made in src/plan/serving. There is no finalizer: everything that a model has is its child and is
 * garbage collected with it.
 */
import { isPaused } from '../api/paused.ts'
import type { HealthChecks } from '../integrations/health-checks.ts'
import { TrafficRates } from '../integrations/router-rates.ts'
import type { ReadTrafficReports } from '../integrations/router-reports.ts'
import { apiVersionOf, keyOf, keyString, type ObjectKey } from '../kube/object.ts'
import type { Pod } from '../kube/resources.ts'
import {
  defaultServingConfig,
  type Model,
  type PlannedServingStatus,
  planServing,
  planServingDeletion,
  planServingRejection,
  type ServingConfig,
  type ServingObserved,
  type ServingPlan,
} from '../plan/serving/index.ts'
import {
  type Cache,
  type Commit,
  committer,
  type Controller,
  type Manager,
  type ReconcileContext,
  type Result,
} from '../runtime/index.ts'
import { reportFailures } from './error-boundary.ts'
import { type DeviceSources, nodePods } from './gather-devices.ts'
import { gatherServing, healthKind, type MetricSource, type Rates } from './gather-serving.ts'
import { MetricApis } from './metric-apis.ts'
import { SERVER } from './model-cache.ts'
import { controlledCaches, modelKeys, servingCaches, type ServingCaches } from './serving-caches.ts'
import { addServingGauges } from './serving-gauges.ts'
import { ServingMetrics } from './serving-metrics.ts'
import { isVisibleChange } from './visible-change.ts'

export interface ServingOptions {
  /** One namespace or several instead of all. */
  readonly namespace?: string | readonly string[]
  readonly concurrency?: number
  /** How often every model is reconciled without a change. */
  readonly resyncMs?: number
  /** How often to ask for kinds that the cluster does not serve. */
  readonly discoveryMs?: number
  /** Whether to reconcile the ModelDeployments of mlops.sathvik.dev; by default true. */
  readonly mlops?: boolean
  readonly config?: Partial<ServingConfig>
  /** Number of models that have metrics of their own; by default 10,000. */
  readonly maxMetricObjects?: number
  readonly readReports: ReadTrafficReports
  /** Checks the health of the pods. Absent: only the kubelet does. */
  readonly healthChecks?: HealthChecks
  /** Figures from Prometheus, if one is configured. */
  readonly prometheus?: MetricSource | undefined
  /** Instead of the rates between two reports. */
  readonly rates?: Rates
  /** Instead of the planner. */
  readonly planner?: Planner
}

/** Fields of the status whose changes are logged. */
const HIGHLIGHTS = ['phase', 'weights'] as const satisfies readonly (keyof PlannedServingStatus)[]

type Planner = (observed: ServingObserved) => ServingPlan

interface Deps {
  readonly manager: Manager
  readonly caches: ServingCaches
  readonly commit: Commit
  readonly config: ServingConfig
  readonly metrics: ServingMetrics
  readonly rates: Rates
  readonly readReports: ReadTrafficReports
  readonly prometheus?: MetricSource
  readonly planner: Planner
  readonly healthChecks?: HealthChecks
  readonly isNamespaced: boolean
  readonly metricApis: MetricApis
}

export function addServingControllers(manager: Manager, options: ServingOptions): Controller[] {
  const caches = servingCaches(manager.caches, options)
  const { recorder, clock, metrics } = manager
  const deps: Deps = {
    manager,
    caches,
    commit: committer({ caches: manager.caches, recorder, clock, metrics, highlights: HIGHLIGHTS }),
    config: { ...defaultServingConfig, ...options.config },
    metrics: new ServingMetrics(metrics.registry),
    rates: options.rates ?? new TrafficRates(),
    readReports: options.readReports,
    ...(options.prometheus && { prometheus: options.prometheus }),
    planner: options.planner ?? ((observed) => planServing(observed)),
    ...(options.healthChecks && { healthChecks: options.healthChecks }),
    isNamespaced: [options.namespace ?? []].flat().length > 0,
    metricApis: new MetricApis({
      client: manager.client,
      clock,
      ...(options.discoveryMs !== undefined && { pollMs: options.discoveryMs }),
    }),
  }
  addServingGauges({
    registry: metrics.registry,
    list: () => [...caches.models.list(), ...(caches.mlopsModels?.list() ?? [])],
    isLeading: () => manager.isLeading,
    maxObjects: options.maxMetricObjects,
  })
  return [
    addController('modeldeployment', caches.models, deps, options),
    ...(caches.mlopsModels ? [addController('mlops-modeldeployment', caches.mlopsModels, deps, options)] : []),
  ]
}

function addController<T extends Model>(
  name: string,
  models: Cache<T>,
  deps: Deps,
  { concurrency, resyncMs }: ServingOptions,
): Controller {
  const { manager, caches } = deps
  const builder = manager
    .controller(name)
    .for(models)
    .watches(caches.pods, modelKeys(models))
    .watches(caches.endpoints, modelKeys(models), { when: isVisibleChange })
    .signals((wake) => deps.prometheus?.reader.onAnswer(wake))
    .watches(caches.servers, (server) => models.byIndex(SERVER, keyString(keyOf(server))).map(keyOf))
  for (const cache of controlledCaches(caches)) builder.owns(cache, { when: isVisibleChange })
  builder.signals((wake) => deps.healthChecks?.onChange(wake))
  const apiVersion = apiVersionOf(models.resource)
  const pass = (key: ObjectKey, context: ReconcileContext): Promise<Result> => {
    const model = models.get(key)
    if (!model || isLeft(model)) deps.healthChecks?.forget(healthKind({ apiVersion }), key)
    return reconcile(model, deps, context)
  }
  return builder.reconcile(pass, {
    ...(concurrency !== undefined && { concurrency }),
    ...(resyncMs !== undefined && { resyncMs }),
  })
}

/** Nothing is decided about its pods. */
const isLeft = (model: Model): boolean => model.metadata.deletionTimestamp !== undefined || isPaused(model)

async function reconcile(model: Model | undefined, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!model) return {}
  if (model.metadata.deletionTimestamp === undefined) return isPaused(model) ? {} : advance(model, deps, context)
  const { recorder } = deps.manager
  return reportFailures(() => deps.commit(model, planServingDeletion(model), context), { object: model, recorder })
}

/** One step in the life of the model. */
async function advance(model: Model, deps: Deps, context: ReconcileContext): Promise<Result> {
  const { manager, planner } = deps
  const { recorder, clock } = manager
  const gather = () => gatherServing(model, { ...deps, now: clock.now(), deviceSources: deviceSources(deps, context) })
  const observed = await reportFailures(gather, { object: model, recorder })
  return reportFailures(() => carryOut(model, planner(observed), deps, context), {
    object: model,
    recorder,
    record: (refusal) => carryOut(model, planServingRejection(observed, refusal), deps, context),
  })
}

/** An operator of some namespaces may not read pods of others. */
function deviceSources({ manager, caches, isNamespaced }: Deps, context: ReconcileContext): DeviceSources {
  const pods = manager.caches.ofKind({ apiVersion: 'v1', kind: 'Pod' }) as unknown as readonly Cache<Pod>[]
  return { nodes: caches.nodes, pods, ...(!isNamespaced && { readNodePods: nodePods(context) }) }
}

async function carryOut(
  model: Model,
  plan: ServingPlan,
  { commit, metrics }: Deps,
  context: ReconcileContext,
): Promise<Result> {
  const result = await commit<PlannedServingStatus>(model, plan, context)
  metrics.noted(model.status, plan.status)
  return result
}
