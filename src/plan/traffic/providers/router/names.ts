/** Names and labels of the router's objects. */
import type { Named } from '../../../model-names.ts'
import type { TrafficTarget } from '../../contract.ts'
import { podsOf } from '../route-object.ts'

export const ROUTER_ROLE = 'router'

/** Of its Deployment, ConfigMap and PodDisruptionBudget. */
export const routerName = ({ metadata }: Named): string => `${metadata.name}-router`

export const routerPods = (target: TrafficTarget): Record<string, string> => podsOf(target, ROUTER_ROLE)
