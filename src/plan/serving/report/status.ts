/** The status of a model, written whole. Nothing in it changes with time alone. */
import { compact } from '../../../api/json.ts'
import type { ActiveVersion } from '../../../api/serving-status.ts'
import { serviceName } from '../../model-names.ts'
import { type Decisions, desiredPods, type VersionDecision } from '../decisions.ts'
import { hasBeenReady } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { PlannedServingStatus } from '../serving-plan.ts'
import { MAX_SENTENCE, othersConditions, type Standing } from './conditions.ts'
import { limitedConditions } from './limited.ts'
import { metricsCondition } from './metrics-source.ts'
import { ratesOf, type ShownRates } from './rates.ts'
import { summaryOf } from './summary.ts'

export function statusOf(view: ModelView, decisions: Decisions, standing: Standing): PlannedServingStatus {
  const { model, recorded, port } = view
  const { namespace, generation } = model.metadata
  const staying = decisions.versions.filter(({ retirement }) => !retirement.isOver)
  const rates = ratesOf(view, decisions.routing)
  const activeVersions = staying.map((one) => activeVersion(decisions, one, rates))
  return compact({
    phase: standing.phase,
    message: standing.message,
    url: `http://${serviceName(model)}.${namespace ?? 'default'}.svc:${port}`,
    ...summaryOf(activeVersions, rates.model),
    activeVersions,
    traffic: decisions.routing.next,
    rollout: decisions.rollout?.state,
    history: decisions.rollout?.history,
    metrics: rates.model,
    observedGeneration: generation,
    conditions: [
      ...othersConditions(recorded),
      ...standing.conditions,
      metricsCondition(view, decisions.routing),
      ...limitedConditions(view, decisions),
    ],
  })
}

function activeVersion({ routing }: Decisions, one: VersionDecision, rates: ShownRates): ActiveVersion {
  const { version, validation, trouble, retirement, replacement } = one
  const isPassed = validation?.outcome === 'passed'
  const validated = isPassed ? validation.digest : version.recorded?.validated
  return compact({
    name: version.name,
    replicas: desiredPods(one),
    healthyReplicas: one.healthy,
    weight: routing.reported.get(version.name) ?? 0,
    idleSince: retirement.idleSince,
    hasBeenReady: hasBeenReady(version) || undefined,
    validated,
    reason: trouble?.reason ?? (validation?.outcome === 'running' ? 'Validating' : undefined),
    message: trouble?.message.slice(0, MAX_SENTENCE),
    rollingUpdate: one.surge.record,
    health: replacement.record,
    autoscaling: one.byRequests?.record,
    metrics: rates.versions.get(version.name),
  })
}
