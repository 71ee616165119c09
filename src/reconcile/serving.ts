/**
 * The serving controllers, one for each group's ModelDeployment: gather → plan → commit, for one model at a time. What a
 * model needs is decided in src/plan/serving; here is only who is asked, what is watched, and what happens when a write
 * is refused. There is no finalizer: all that a model has is its child and goes with it.
 */
import { RouterRates } from '../integrations/router-rates.ts'
import type { ReadRouterReports } from '../integrations/router-reports.ts'
import { keyOf, keyString } from '../kube/object.ts'
import { defaultServingConfig, type ServingConfig } from '../plan/serving/config.ts'
import { planServing, planServingRefusal, type ServingPlan } from '../plan/serving/plan.ts'
import type { PlannedServingStatus } from '../plan/serving/status.ts'
import {
  type Cache,
  type Commit,
  committer,
  type Controller,
  type Manager,
  type ReconcileContext,
  type Result,
} from '../runtime/index.ts'
import { gatherServing, type Rates } from './gather-serving.ts'
import { isNews } from './news.ts'
import { isRefusal, tellFailure } from './refusal.ts'
import { leftovers, type Model, modelKeys, SERVER, servingCaches, type ServingCaches } from './serving-caches.ts'
import { ServingMetrics } from './serving-metrics.ts'

export interface ServingOptions {
  /** One namespace instead of all. */
  readonly namespace?: string
  readonly concurrency?: number
  /** How often every model is looked at without a reason. */
  readonly resyncMs?: number
  /** How often a kind is asked for that the cluster does not have. */
  readonly discoveryMs?: number
  readonly config?: Partial<ServingConfig>
  readonly readReports: ReadRouterReports
  /** Instead of what two reports some seconds apart tell. */
  readonly rates?: Rates
  /** Instead of the planner. */
  readonly planner?: typeof planServing
}

interface Deps {
  readonly manager: Manager
  readonly caches: ServingCaches
  readonly commit: Commit
  readonly config: ServingConfig
  readonly metrics: ServingMetrics
  readonly rates: Rates
  readonly readReports: ReadRouterReports
  readonly planner: typeof planServing
}

export function addServingControllers(manager: Manager, options: ServingOptions): Controller[] {
  const caches = servingCaches(manager.caches, options)
  const { recorder, clock, metrics } = manager
  const deps: Deps = {
    manager,
    caches,
    commit: committer({ caches: manager.caches, recorder, clock, metrics }),
    config: { ...defaultServingConfig, ...options.config },
    metrics: new ServingMetrics(metrics.registry),
    rates: options.rates ?? new RouterRates(),
    readReports: options.readReports,
    planner: options.planner ?? planServing,
  }
  return [
    addController('modeldeployment', caches.models, deps, options),
    addController('mlops-modeldeployment', caches.mlopsModels, deps, options),
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
    .watches(caches.servers, (server) => models.byIndex(SERVER, keyString(keyOf(server))).map(keyOf))
  for (const cache of Object.values(caches.children) as Cache[]) builder.owns(cache, { when: isNews })
  return builder.reconcile((key, context) => reconcile(models.get(key), deps, context), {
    ...(concurrency !== undefined && { concurrency }),
    ...(resyncMs !== undefined && { resyncMs }),
  })
}

async function reconcile(model: Model | undefined, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!model || model.metadata.deletionTimestamp !== undefined) return {}
  try {
    return await advance(model, deps, context)
  } catch (error) {
    tellFailure(model, deps.manager.recorder, error)
    throw error
  }
}

/** How long the garbage collector may take with what a model of the same name has left, and how often we look. */
const SUCCESSION_MS = 60_000
const LOOK_MS = 1_000

/** One step along the life of the model. */
async function advance(model: Model, deps: Deps, context: ReconcileContext): Promise<Result> {
  const { manager, caches } = deps
  const now = manager.clock.now()
  const age = now - Date.parse(model.metadata.creationTimestamp ?? '')
  if (age < SUCCESSION_MS && leftovers(model, caches).length > 0) return { requeueAfterMs: LOOK_MS }
  const observed = await gatherServing(model, { ...deps, now })
  try {
    return await carryOut(model, deps.planner(observed), deps, context)
  } catch (error) {
    if (isRefusal(error)) await carryOut(model, planServingRefusal(observed, error.message), deps, context)
    throw error
  }
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
