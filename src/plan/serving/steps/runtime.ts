/** Resolves what runs the model. If it is missing, nothing is decided: the children stay unchanged, and the status reports it. */
import { RUNTIME_NEEDED } from '../../../api/default-runtimes.ts'
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import type { Trouble } from '../../pod-trouble.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { serverOf } from '../observe/served-model.ts'
import { stuckStatus } from '../report/stuck.ts'
import { builtInRuntimes, runtimeNameOf } from '../runtimes/runtime.ts'
import type { ServingPlan } from '../serving-plan.ts'

export const resolveRuntime = ({ model, server, config }: ServingObserved): ModelServerSpec | undefined =>
  serverOf(model, server, config.runtimes)

export const reportMissingRuntime = (observed: ServingObserved): ServingPlan =>
  reportStuck(observed, { reason: 'RuntimeNotFound', message: missing(observed) })

/** Records why nothing is decided, with one event. */
export function reportStuck(observed: ServingObserved, trouble: Trouble): ServingPlan {
  const status = stuckStatus(observed, trouble)
  const isNew = observed.model.status?.message !== status.message
  const event = { type: 'Warning', reason: trouble.reason, action: 'Serve', note: trouble.message } as const
  return { writes: [], deletions: [], status, events: isNew ? [event] : [] }
}

function missing({ model }: ServingObserved): string {
  const name = runtimeNameOf(model)
  if (name === undefined) return RUNTIME_NEEDED
  const known = Object.keys(builtInRuntimes).join(', ')
  return `spec.runtime: there is no ModelServer ${name} in this namespace: create it, or use one of ${known}`
}
