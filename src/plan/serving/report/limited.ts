/** The condition `Limited`: fields that the spec sets and that have no effect, in this release or with this provider. */
import { limitedFields, limitedVerdict } from '../../../api/limited.ts'
import type { Verdict } from '../../../api/conditions.ts'
import type { ModelView } from '../observe/view.ts'
import type { Decisions } from '../decisions.ts'

/** Gateways and host names, where no provider of the model routes from gateways. */
const EXPOSURE = ['traffic.gateways', 'traffic.hostnames']

/** Targets that only a HorizontalPodAutoscaler applies. */
const OTHER_TARGETS = ['targetMemoryUtilization', 'targetGPUUtilization'].flatMap((target) => [
  `scaling.${target}`,
  `versions[].scaling.${target}`,
])

export function limitedConditions({ observed: { model } }: ModelView, { routing, versions }: Decisions): Verdict[] {
  const verdict = limitedVerdict(model)
  if (verdict) return [verdict]
  const { active, next } = routing
  const exposure = active.some(({ provider }) => provider.routesGateways) ? [] : limitedFields(model, EXPOSURE)
  if (exposure.length > 0)
    return limited(model, {
      reason: 'ProviderWithoutGateways',
      message: `Fields without effect with the traffic provider ${next.provider}: ${exposure.join(', ')}; choose a provider that routes from gateways, or remove them`,
    })
  const targets = versions.some(({ byRequests }) => byRequests) ? limitedFields(model, OTHER_TARGETS) : []
  if (targets.length === 0) return []
  return limited(model, {
    reason: 'ScaledByRequests',
    message: `Fields without effect while the operator scales by requests: ${targets.join(', ')}; install a metrics adapter, or remove them`,
  })
}

function limited(
  { metadata: { generation } }: ModelView['observed']['model'],
  why: Pick<Verdict, 'reason' | 'message'>,
): Verdict[] {
  return [
    { type: 'Limited', status: 'True', ...why, ...(generation !== undefined && { observedGeneration: generation }) },
  ]
}
