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
import { providers, type ProviderRegistry } from '../traffic/index.ts'
import { type Decisions, decisionsOf } from './decisions.ts'
import { childrenOf } from './objects/children.ts'
import type { ServingObserved } from './observe/observed.ts'
import { withPastTimes } from './observe/recorded-times.ts'
import { servedModel } from './observe/served-model.ts'
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
import { waitForPredecessor } from './steps/succession.ts'
import { isAwaiting, isHeld, validate } from './steps/validation.ts'

/** `registry`: the providers that may be used. */
export function planServing(gathered: ServingObserved, registry: ProviderRegistry = providers): ServingPlan {
  const observed = withPastTimes(gathered)
  const waiting = waitForPredecessor(observed)
  if (waiting) return waiting
  const server = resolveRuntime(observed)
  if (!server) return reportMissingRuntime(observed)
  const model = servedModel(observed.model, server)
  const unusable = checkPaths(observed, model)
  if (unusable) return unusable
  const view = viewOf(observed, courseOf(observed, model), registry)
  return render(view, decide(view))
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
  return decisionsOf(view, { validations, routing, sizes, retirements, replacements, ...(rollout && { rollout }) })
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
