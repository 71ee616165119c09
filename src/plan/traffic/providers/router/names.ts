/** Names and labels of the router's objects. */
import { PROXY_ROLE } from '../../../../api/router-report.ts'
import type { Named } from '../../../model-names.ts'
import type { TrafficTarget } from '../../contract.ts'
import { podsOf } from '../route-object.ts'

/** Of its Deployment, ConfigMap and PodDisruptionBudget. */
export const routerName = ({ metadata }: Named): string => `${metadata.name}-router`

export const routerPods = (target: TrafficTarget): Record<string, string> => podsOf(target, PROXY_ROLE)
