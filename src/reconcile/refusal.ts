/** What becomes of a pass that failed: some failures pass by themselves, others wait for people, who must be told. */
import { ApiError } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import { classify, type Recorder } from '../runtime/index.ts'

/** A write that the server will refuse until somebody does something: a quota, a policy, a field it does not accept. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && isForPeople(error)
}

/** What passes by itself, or goes with its namespace, needs nobody. */
function isForPeople(error: unknown): boolean {
  const { class: kind, code } = classify(error)
  return code !== 'NamespaceTerminating' && (kind !== 'transient' || code === 'Unexpected')
}

/** What waits for people is told where they look. */
export function tellFailure(object: KubeObject, recorder: Recorder, error: unknown): void {
  if (!isForPeople(error)) return
  const note = error instanceof Error ? error.message : String(error)
  recorder.record(object, { type: 'Warning', reason: 'ReconcileFailed', action: 'Reconcile', note })
}
