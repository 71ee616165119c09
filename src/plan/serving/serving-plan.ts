import type { Verdict } from '../../api/conditions.ts'
import type { ServingStatus } from '../../api/serving-status.ts'
import type { Plan } from '../../decision/plan.ts'

/** A status before its conditions get their `lastTransitionTime`. */
export type PlannedServingStatus = Omit<ServingStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }

export type ServingPlan = Plan<PlannedServingStatus>
