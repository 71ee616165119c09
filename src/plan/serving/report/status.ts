/** The status of a model, written whole. Nothing in it changes with time alone. */
import { compact } from '../../../api/json.ts'
import { limitedVerdict } from '../../../api/limited.ts'
import type { ActiveVersion } from '../../../api/serving-status.ts'
import { serviceName } from '../../model-names.ts'
import { type Decisions, desiredPods, type VersionDecision } from '../decisions.ts'
import { availableOf, hasBeenReady } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import type { PlannedServingStatus } from '../serving-plan.ts'
import { MAX_SENTENCE, othersConditions, type Standing } from './conditions.ts'
import { ratesOf, type ShownRates } from './rates.ts'

export function statusOf(view: ModelView, decisions: Decisions, standing: Standing): PlannedServingStatus {
  const { model, observed, recorded, port } = view
  const { namespace, generation } = model.metadata
  const limited = limitedVerdict(observed.model)
  const staying = decisions.versions.filter(({ retirement }) => !retirement.isOver)
  const rates = ratesOf(view, decisions.routing)
  const activeVersions = staying.map((one) => activeVersion(decisions, one, rates))
  return compact({
    phase: standing.phase,
    message: standing.message,
    url: `http://${serviceName(model)}.${namespace ?? 'default'}.svc:${port}`,
    ...summaryOf(activeVersions, rates),
    activeVersions,
    traffic: decisions.routing.next,
    metrics: rates.model,
    observedGeneration: generation,
    conditions: [...othersConditions(recorded), ...standing.conditions, ...(limited ? [limited] : [])],
  })
}

/** The columns of `kubectl get`, from what the rest of the status says. */
function summaryOf(versions: readonly ActiveVersion[], { model }: ShownRates): Partial<PlannedServingStatus> {
  const total = (of: (version: ActiveVersion) => number | undefined): number =>
    versions.reduce((sum, version) => sum + (of(version) ?? 0), 0)
  const replicas = total((version) => version.replicas)
  return {
    replicas,
    ready: `${total(({ healthyReplicas }) => healthyReplicas)}/${replicas}`,
    weights: versions.map(({ name, weight = 0 }) => `${name}:${weight}`).join(' '),
    requestRate: model?.requestsPerSecond === undefined ? '-' : String(model.requestsPerSecond),
  }
}

function activeVersion({ routing }: Decisions, one: VersionDecision, rates: ShownRates): ActiveVersion {
  const { version, validation, trouble, retirement } = one
  const isPassed = validation?.outcome === 'passed'
  const validated = isPassed ? validation.digest : version.recorded?.validated
  return compact({
    name: version.name,
    replicas: desiredPods(one),
    healthyReplicas: availableOf(version),
    weight: routing.reported.get(version.name) ?? 0,
    idleSince: retirement.idleSince,
    hasBeenReady: hasBeenReady(version) || undefined,
    validated,
    reason: trouble?.reason ?? (validation?.outcome === 'running' ? 'Validating' : undefined),
    message: trouble?.message.slice(0, MAX_SENTENCE),
    metrics: rates.versions.get(version.name),
  })
}
