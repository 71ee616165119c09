/** The condition `Limited`: fields that the spec sets and that have no effect, in this release or with this provider. */
import { limitedFields, limitedVerdict } from '../../../api/limited.ts'
import type { Verdict } from '../../../api/conditions.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from '../steps/routing.ts'

/** Gateways and host names, where no provider of the model routes from gateways. */
const EXPOSURE = ['traffic.gateways', 'traffic.hostnames']

export function limitedConditions({ observed: { model } }: ModelView, { active, next }: Routing): Verdict[] {
  const verdict = limitedVerdict(model)
  if (verdict) return [verdict]
  const fields = active.some(({ provider }) => provider.routesGateways) ? [] : limitedFields(model, EXPOSURE)
  if (fields.length === 0) return []
  const { generation } = model.metadata
  return [
    {
      type: 'Limited',
      status: 'True',
      reason: 'ProviderWithoutGateways',
      message: `Fields without effect with the traffic provider ${next.provider}: ${fields.join(', ')}; choose a provider that routes from gateways, or remove them`,
      ...(generation !== undefined && { observedGeneration: generation }),
    },
  ]
}
