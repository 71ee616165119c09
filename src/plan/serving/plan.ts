/** The life of a model that is served: what should be written, given what is seen. Pure. */
import type { Plan } from '../plan.ts'
import type { ServingObserved } from './observed.ts'
import type { PlannedServingStatus } from './status.ts'

export type ServingPlan = Plan<PlannedServingStatus>

export function planServing({ model }: ServingObserved): ServingPlan {
  const status = { phase: 'Pending', observedGeneration: model.metadata.generation ?? 0 } as const
  return { apply: [], prune: [], status, events: [] }
}

/**
 * The plan after the API server refused one of our writes for a reason that people have to see to, such as a quota: it
 * only says so. Trying again is left to the caller.
 */
export function planServingRefusal({ model }: ServingObserved, message: string): ServingPlan {
  return { apply: [], prune: [], status: { ...model.status, message }, events: [] }
}
