/**
 * A model has no finalizer of ours, so most are gone at once. One that is still there waits for finalizers of others: the
 * status says so once, for whatever time the wait takes.
 */
import { compact } from '../../../api/json.ts'
import type { Model } from '../observe/observed.ts'
import type { ServingPlan } from '../serving-plan.ts'

const DELETING = 'Deleting'
/** Set by `kubectl delete --cascade=foreground`. */
const FOREGROUND = 'foregroundDeletion'

export function planServingDeletion({ metadata, status = {} }: Model): ServingPlan {
  const { finalizers = [] } = metadata
  const message = `${DELETING}: waiting for ${describe(finalizers)}`
  const conditions = status.conditions?.map((condition) => {
    const { lastTransitionTime: _stamped, ...verdict } = condition
    return verdict.type === 'Ready' ? { ...verdict, status: 'False' as const, reason: DELETING, message } : verdict
  })
  // The first message stays: the status is written once, also if finalizers are removed one by one.
  const isSaid = status.message?.startsWith(`${DELETING}:`) === true
  const next = compact({ ...status, message, conditions })
  return { writes: [], deletions: [], events: [], ...(finalizers.length > 0 && !isSaid && { status: next }) }
}

function describe(finalizers: readonly string[]): string {
  const others = finalizers.filter((finalizer) => finalizer !== FOREGROUND)
  const named = others.length > 0 ? [`the owners of the finalizers ${others.join(', ')}`] : []
  const children = finalizers.includes(FOREGROUND) ? ['the deletion of its child objects'] : []
  return [...children, ...named].join(', and for ').slice(0, MAX_WAIT)
}

const MAX_WAIT = 900
