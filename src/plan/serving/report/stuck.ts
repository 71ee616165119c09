/** The status of a model that cannot be reconciled, and the plan that records it. */
import { getCondition, type Verdict } from '../../../api/conditions.ts'
import { compact } from '../../../api/json.ts'
import { serviceName } from '../../model-names.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { conflictConditions, recordRejection } from '../../rejection.ts'
import { isUnknownImageVolume, modelImage, unsupportedImageVolumes } from '../objects/image-volume.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { availableIn } from '../observe/version.ts'
import type { PlannedServingStatus, ServingPlan } from '../serving-plan.ts'
import { conditionTypes, hasEndpoints, MAX_SENTENCE, othersConditions } from './conditions.ts'
import { summaryOf } from './summary.ts'

/**
 * The plan after a write that cannot succeed until a person acts, such as one above a quota or one to a name that is
 * taken: it only records why. The caller retries.
 */
export function planServingRejection(observed: ServingObserved, trouble: Trouble): ServingPlan {
  const known = getCondition(observed.model.status?.conditions, STUCK)
  const { rejection, events } = recordRejection(known, explained(observed, trouble))
  return { writes: [], deletions: [], status: stuckStatus(observed, rejection), events }
}

/** The API server names the field of the Deployment. The person who acts has to know the field of the model. */
function explained({ model }: ServingObserved, trouble: Trouble): Trouble {
  if (!isUnknownImageVolume(trouble.message)) return trouble
  const uris =
    'modelURI' in model.spec ? [model.spec.modelURI] : model.spec.versions.map((version) => version.modelPath)
  return unsupportedImageVolumes({ uri: uris.find((uri) => modelImage({ uri })) ?? '' })
}

/** The condition that has the cause. */
const STUCK = 'Progressing'

/**
 * What was decided before stays recorded. What serves is observed: a version without pods, or a Service that the model does
 * not control, serves nothing.
 */
export function stuckStatus(observed: ServingObserved, { reason, message }: Trouble): PlannedServingStatus {
  const { model } = observed
  const { url, ...known } = model.status ?? {}
  const { generation } = model.metadata
  const cause = { reason, message, ...(generation !== undefined && { observedGeneration: generation }) }
  const isReachable = observed.services.some(({ metadata }) => metadata.name === serviceName(model))
  const activeVersions = known.activeVersions?.map((one) => ({
    ...one,
    healthyReplicas: availableIn(observed, one.name),
  }))
  const isServing =
    isReachable &&
    hasEndpoints(observed) &&
    activeVersions?.some(({ weight = 0, healthyReplicas }) => weight > 0 && healthyReplicas > 0)
  const verdicts = conditionTypes.map((type): Verdict => {
    const before = getCondition(known.conditions, type)
    if (type === STUCK || !before || !isServing) return { type, status: 'False', ...cause }
    const { lastTransitionTime: _stamped, ...verdict } = before
    return verdict
  })
  return compact({
    ...known,
    phase: isServing ? ('Degraded' as const) : ('Failed' as const),
    message: message.slice(0, MAX_SENTENCE),
    url: isReachable ? url : undefined,
    ...summaryOf(activeVersions ?? [], known.metrics),
    activeVersions,
    observedGeneration: generation,
    conditions: [...othersConditions(known), ...verdicts, ...conflictConditions({ reason, message }, generation)],
  })
}
