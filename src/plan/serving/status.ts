/** The status of a model, written whole. Nothing in it changes by the mere passing of time. */
import type { Verdict } from '../../api/conditions.ts'
import type { ServingStatus } from '../../api/modeldeployment-parts.ts'

/** A status before it is stamped with the times of its conditions. */
export type PlannedServingStatus = Omit<ServingStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }
