/**
 * Plans one pass over a model that is served: what to write, given what was observed. Pure.
 *
 *     waitForPredecessor ── an earlier model of this name is still being deleted ──▶ look again
 *             │
 *     resolveRuntime ────── there is no such ModelServer ──────────────────────────▶ report it
 *             │
 *      checkPaths ───────── the server cannot load what a version names ───────────▶ report it
 *             │
 *          course           which versions a rollout needs now, and their weights
 *             │
 *         validate          which versions may start or change
 *             │
 *           route           weights, provider, and the switch between providers
 *             │
 *           scale           pods of each version
 *             │
 *           surge           how pods are replaced, by free GPUs
 *             │
 *          retire           which versions drain, and which are deleted
 *             │
 *        replaceSick        which sick pods are evicted
 *             │
 *          advance          the next record of the rollout
 *             │
 *             ├──▶ objects  children to apply and to delete
 *             ├──▶ report   status and events
 *             └──▶ requeue  when to look again
 *
 * Each step uses the results of the steps before it, and none is skipped. What must be remembered between plans (since when
 * a version is idle, which provider the Service leads to) is written to the status first and acted on by a later plan, so a
 * crash at any point repeats nothing and skips nothing.
 */
import type { Demand } from '../pod/devices.ts'
import { providers, type ProviderRegistry } from '../traffic/index.ts'
import { type Decisions, decisionsOf } from './decisions.ts'
import { childrenOf } from './objects/children.ts'
import type { ServingObserved } from './observe/observed.ts'
import { withPastTimes } from './observe/recorded-times.ts'
import { mayHaveDevices, servedModel } from './observe/served-model.ts'
import { isWanted } from './observe/version.ts'
import { type ModelView, viewOf } from './observe/view.ts'
import { advance } from './rollout/advance.ts'
import { courseOf } from './rollout/course.ts'
import { standingOf } from './report/conditions.ts'
import { eventsOf } from './report/events.ts'
import { statusOf } from './report/status.ts'
import type { ServingPlan } from './serving-plan.ts'
import { checkPaths } from './steps/model-paths.ts'
import { replaceSick } from './steps/eviction.ts'
import { requeueAfter } from './steps/requeue.ts'
import { retire } from './steps/retirement.ts'
import { route } from './steps/routing.ts'
import { reportMissingRuntime, resolveRuntime } from './steps/runtime.ts'
import { scale } from './steps/scale.ts'
import { demandOf, surges } from './steps/surge.ts'
import { waitForPredecessor } from './steps/succession.ts'
import { isAwaiting, isHeld, validate } from './steps/validation.ts'

/** `registry`: the providers that may be used. */
export function planServing(gathered: ServingObserved, registry: ProviderRegistry = providers): ServingPlan {
  const found = prepare(gathered, registry)
  return 'view' in found ? render(found.view, decide(found.view)) : found.plan
}

/** What has to be known of the nodes for the next decisions. Empty for models without devices, and for models at rest. */
export function deviceDemands(gathered: ServingObserved, registry: ProviderRegistry = providers): readonly Demand[] {
  if (!mayHaveDevices(gathered.model)) return []
  const found = prepare(gathered, registry)
  if (!('view' in found)) return []
  const { view } = found
  const validations = validate(view)
  const free = view.versions.filter(isWanted).filter((one) => !isHeld(validations, one) && !isAwaiting(view, one))
  return free.flatMap((version) => demandOf(view, version) ?? [])
}

/** A view, or the plan of a model that cannot be served now. */
function prepare(
  gathered: ServingObserved,
  registry: ProviderRegistry,
): { readonly view: ModelView } | { readonly plan: ServingPlan } {
  const observed = withPastTimes(gathered)
  const waiting = waitForPredecessor(observed)
  if (waiting) return { plan: waiting }
  const server = resolveRuntime(observed)
  if (!server) return { plan: reportMissingRuntime(observed) }
  const model = servedModel(observed.model, server)
  const unusable = checkPaths(observed, model)
  if (unusable) return { plan: unusable }
  return { view: viewOf(observed, courseOf(observed, model), registry) }
}

function decide(view: ModelView): Decisions {
  const validations = validate(view)
  const alive = view.versions.filter(
    (one) => one.deployment || (one.wanted && !isHeld(validations, one) && !isAwaiting(view, one)),
  )
  const routing = route(view, alive)
  const sizes = scale(view, routing)
  const retirements = retire(view, routing)
  const replacements = replaceSick(view)
  const rollout = view.travel && advance(view, view.travel, routing)
  const results = { validations, routing, sizes, surges: surges(view), retirements, replacements }
  return decisionsOf(view, { ...results, ...(rollout && { rollout }) })
}

function render(view: ModelView, decisions: Decisions): ServingPlan {
  const status = statusOf(view, decisions, standingOf(view, decisions))
  const requeueAfterMs = requeueAfter(view, decisions)
  return {
    ...childrenOf(view, decisions),
    status,
    events: eventsOf(view, decisions, status),
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  }
}
