/**
 * The life of a model that is served: what should be written, given what is seen. Pure.
 *
 * Versions of the spec start, are validated where that is asked for, and get their share of the traffic once they are ready.
 * Versions that the spec no longer has lose theirs, are seen to have lost it, drain and go. What has to be remembered
 * in between (since when a version is idle, which way traffic goes) is written to the status first and acted on by a later
 * plan, so that a crash at any point repeats nothing and skips nothing.
 */
import type { Plan } from '../plan.ts'
import { soonest } from '../plan.ts'
import { refusal } from '../refusal.ts'
import { childrenOf } from './children.ts'
import { standingOf } from './conditions.ts'
import { eventsOf } from './events.ts'
import type { ServingObserved } from './observed.ts'
import { builtInRuntimes, runtimeNameOf } from './runtimes/runtime.ts'
import { type Scene, sceneOf } from './scene.ts'
import { servedModel, serverOf } from './served-model.ts'
import { type State, stateOf } from './state.ts'
import { type PlannedServingStatus, statusOf, stuckStatus } from './status.ts'

export type ServingPlan = Plan<PlannedServingStatus>

export function planServing(observed: ServingObserved): ServingPlan {
  const server = serverOf(observed.model, observed.server)
  if (!server) return stuck(observed, 'RuntimeNotFound', noRuntime(observed))
  const scene = sceneOf(observed, servedModel(observed.model, server))
  const state = stateOf(scene)
  const status = statusOf(scene, state, standingOf(scene, state))
  const requeueAfterMs = nextLook(scene, state)
  return {
    ...childrenOf(scene, state),
    status,
    events: eventsOf(scene, state, status),
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  }
}

/**
 * The plan after the API server refused one of our writes for a reason that people have to see to, such as a quota: it
 * only says so. Trying again is left to the caller.
 */
export function planServingRefusal(observed: ServingObserved, message: string): ServingPlan {
  const { reason } = refusal(message)
  return stuck(observed, reason, message)
}

function stuck(observed: ServingObserved, reason: string, message: string): ServingPlan {
  const status = stuckStatus(observed, reason, message)
  const isNews = observed.model.status?.message !== status.message
  const events = isNews ? [{ type: 'Warning', reason, action: 'Serve', note: message } as const] : []
  return { apply: [], prune: [], status, events }
}

function noRuntime({ model }: ServingObserved): string {
  const known = Object.keys(builtInRuntimes).join(', ')
  return `spec.runtime: there is no ModelServer ${runtimeNameOf(model) ?? ''} in this namespace: create it, or use one of ${known}`
}

/** What routers say cannot be watched: they are asked again, soon while they are on their way, else now and then. */
const SETTLING_MS = 1000
const RATES_MS = 15_000

function nextLook({ now }: Scene, { routing, versions }: State): number | undefined {
  const ends = versions.map(({ retirement }) => retirement.endsAt)
  const drains = [...ends, routing.drainEndsAt].map((end) => (end === undefined ? undefined : end - now))
  const isRouted = routing.ways.some(({ name }) => name === 'router')
  return soonest(...drains, routing.isSettling ? SETTLING_MS : undefined, isRouted ? RATES_MS : undefined)
}
