/**
 * No split: the model's Service selects the pods of one version. The operator uses it while one version gets everything,
 * so that a model of a single version needs nothing beside its Service.
 */
import { MODEL_UID_LABEL, serverLabels, VERSION_LABEL } from '../../model-names.ts'
import type { TrafficObserved, TrafficProvider, TrafficTarget } from '../contract.ts'
import { soleOf, type Weights, WHOLE } from '../weights.ts'
import { serverQueries, serverQueriesProblem, serverQueryDefaults } from './server-queries.ts'

export const direct = {
  name: 'direct',
  kinds: [],
  defaults: { ...serverQueryDefaults },
  configProblem: serverQueriesProblem,
  queries: serverQueries,
  suits: ({ versions, isSplit, hasGateways }) => versions === 1 && !isSplit && !hasGateways,
  recognises: ({ selector }) => selector[VERSION_LABEL] !== undefined,
  render: (target) => ({ apply: [], annotate: [], selector: serversOf(target) }),
  inEffect,
  canCarry: isPossible,
  canTakeOver: isPossible,
  isSettled: () => true,
  isRunning: () => true,
  reported: (weights, { target }) => (weights ? new Map([[target.primary, WHOLE]]) : target.recorded),
} satisfies TrafficProvider

function serversOf({ name, labels, primary }: TrafficTarget): Record<string, string> {
  return serverLabels({ metadata: { name, uid: labels[MODEL_UID_LABEL] ?? '' } }, primary)
}

/** What the Service selects. Without a Service, or with one that selects several versions, no version gets anything. */
function inEffect(_: TrafficTarget, { service }: TrafficObserved): Weights {
  const selected = service?.spec?.selector?.[VERSION_LABEL]
  return new Map(selected === undefined ? [] : [[selected, WHOLE]])
}

function isPossible(weights: Weights): boolean {
  return soleOf(weights) !== undefined
}
