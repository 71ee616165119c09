/** The status of a model, written whole. Nothing in it changes by the mere passing of time. */
import { limitedVerdict } from '../../api/limited.ts'
import { compact } from '../../api/json.ts'
import type { Verdict } from '../../api/conditions.ts'
import type { ActiveVersion, ServingStatus } from '../../api/modeldeployment-parts.ts'
import { serviceName } from '../model-names.ts'
import { ratesOf, type ShownRates } from './rates.ts'
import type { ServingObserved } from './observed.ts'
import { conditionTypes, type Standing } from './conditions.ts'
import type { Scene } from './scene.ts'
import { sizeTold, type State, type VersionState } from './state.ts'
import { availableOf } from './version.ts'

/** A status before it is stamped with the times of its conditions. */
export type PlannedServingStatus = Omit<ServingStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }

export function statusOf(scene: Scene, state: State, standing: Standing): PlannedServingStatus {
  const { model, observed, known } = scene
  const { namespace, generation } = model.metadata
  const limited = limitedVerdict(observed.model)
  const staying = state.versions.filter(({ retirement }) => !retirement.isOver)
  const rates = ratesOf(scene, state.routing)
  return compact({
    phase: standing.phase,
    message: standing.message,
    url: `http://${serviceName(model)}.${namespace ?? 'default'}.svc:${model.server.port}`,
    activeVersions: staying.map((one) => activeVersion(state, one, rates)),
    traffic: state.routing.next,
    metrics: rates.model,
    observedGeneration: generation,
    conditions: [...othersConditions(known), ...standing.conditions, ...(limited ? [limited] : [])],
  })
}

function activeVersion({ routing }: State, one: VersionState, rates: ShownRates): ActiveVersion {
  const { version, validation, trouble, retirement } = one
  const isPassed = validation?.outcome === 'passed'
  const validated = isPassed ? validation.digest : version.known?.validated
  return compact({
    name: version.name,
    replicas: sizeTold(one),
    healthyReplicas: availableOf(version),
    weight: routing.told.get(version.name) ?? 0,
    idleSince: retirement.idleSince,
    validated,
    reason: trouble?.reason ?? (validation?.outcome === 'running' ? 'Validating' : undefined),
    message: trouble?.message.slice(0, MAX_MESSAGE),
    metrics: rates.versions.get(version.name),
  })
}

const MAX_MESSAGE = 1024

/** What others say of the model, and what is noticed only when a plan is carried out. */
function othersConditions({ conditions = [] }: ServingStatus): Verdict[] {
  const ours: readonly string[] = [...conditionTypes, 'Limited', 'Conflict']
  return conditions
    .filter(({ type }) => !ours.includes(type))
    .map(({ lastTransitionTime: _stamped, ...verdict }) => verdict)
}

/** The status of a model that nothing can be decided about: all that was known stays, and why is said. */
export function stuckStatus({ model }: ServingObserved, reason: string, message: string): PlannedServingStatus {
  const known = model.status ?? {}
  const { generation } = model.metadata
  const said = { reason, message, ...(generation !== undefined && { observedGeneration: generation }) }
  const isServing = known.activeVersions?.some(
    ({ weight = 0, healthyReplicas = 0 }) => weight > 0 && healthyReplicas > 0,
  )
  const kept = conditionTypes.flatMap((type) => known.conditions?.find((condition) => condition.type === type) ?? [])
  const verdicts = conditionTypes.map((type): Verdict => {
    const before = kept.find((condition) => condition.type === type)
    if (type === 'Progressing' || !before || !isServing) return { type, status: 'False', ...said }
    const { lastTransitionTime: _stamped, ...verdict } = before
    return verdict
  })
  return compact({
    ...known,
    phase: isServing ? ('Degraded' as const) : ('Failed' as const),
    message: message.slice(0, MAX_MESSAGE),
    observedGeneration: generation,
    conditions: [...othersConditions(known), ...verdicts],
  })
}
