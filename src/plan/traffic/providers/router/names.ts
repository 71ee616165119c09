/** Names and labels of the router's objects. */
import { PROXY_ROLE } from '../../../../api/router-report.ts'
import type { Named } from '../../../model-names.ts'
import type { TrafficTarget } from '../../contract.ts'
import { podsOf } from '../route-object.ts'

/** Of its Deployment and PodDisruptionBudget. */
export const routerName = ({ metadata }: Named): string => `${metadata.name}-router`

/**
 * Of its ConfigMap. Builds with another proxy have theirs under the name of the Deployment: their pods keep it while they are
 * replaced, in either direction.
 */
export const routerConfigName = (model: Named): string => `${routerName(model)}-envoy`

export const routerPods = (target: TrafficTarget): Record<string, string> => podsOf(target, PROXY_ROLE)
