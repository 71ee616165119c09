/** What the operator writes into the status of a Workload, as the controllers of Kueue's own kinds of jobs do. */
import type { Cause, Progress } from '../quota.ts'
import { conditionOf, holds } from './admission.ts'
import type { Condition, Workload, WorkloadStatus } from './kinds.ts'

/** The pods are gone: Kueue may give the quota to others, and queue the Workload again. */
export function released(workload: Workload): WorkloadStatus {
  const { admission: _given, reclaimablePods: _ended, ...rest } = workload.status ?? {}
  const { reason = 'Pending', message = '' } = conditionOf(workload, 'Evicted') ?? {}
  const back = [
    // For other reasons, Kueue decides when the Workload is queued again.
    condition(workload, 'Requeued', REQUEUED_AT_ONCE.includes(reason), { reason, message }),
    condition(workload, 'QuotaReserved', false, { reason: 'Pending', message }),
    condition(workload, 'Admitted', false, NO_RESERVATION),
    ...(holds(workload, 'PodsReady') ? [podsReady(workload, false, 'WaitForStart')] : []),
  ]
  return { ...rest, conditions: back.reduce(withCondition, rest.conditions ?? []) }
}

const [SUCCEEDED, FAILED] = ['Succeeded', 'Failed'] as const
const NO_RESERVATION: Cause = { reason: 'NoReservation', message: 'The workload has no reservation' }
const REQUEUED_AT_ONCE: readonly string[] = ['Preempted', 'NodeFailures']

export function reported(workload: Workload, progress: Progress): WorkloadStatus {
  const status = workload.status ?? {}
  const { end } = progress
  if (end)
    return holds(workload, 'Finished')
      ? status
      : withConditions(workload, [
          condition(workload, 'Finished', true, { reason: end.isSuccess ? SUCCEEDED : FAILED, message: end.message }),
        ])
  if (!holds(workload, 'Admitted')) return status
  const reclaimablePods = reclaimable(workload, progress)
  return {
    ...withConditions(workload, readiness(workload, progress)),
    ...(reclaimablePods.length > 0 && { reclaimablePods }),
  }
}

const withConditions = ({ status = {} }: Workload, news: readonly Condition[]): WorkloadStatus => ({
  ...status,
  ...(news.length > 0 && { conditions: news.reduce(withCondition, status.conditions ?? []) }),
})

function readiness(workload: Workload, { isReady }: Progress): Condition[] {
  const known = conditionOf(workload, 'PodsReady')
  if (isReady === (known?.status === 'True')) return []
  if (!isReady) return [podsReady(workload, false, RECOVERY)]
  return [podsReady(workload, true, known?.reason === RECOVERY ? 'Recovered' : 'Started')]
}

const RECOVERY = 'WaitForRecovery'

function podsReady(workload: Workload, is: boolean, reason: string): Condition {
  const message = is ? 'All pods reached readiness and the workload is running' : 'Not all pods are ready or succeeded'
  return condition(workload, 'PodsReady', is, { reason, message })
}

/** Counts never decrease while the Workload has quota. */
function reclaimable({ spec, status }: Workload, { succeeded }: Progress) {
  const known = new Map(status?.reclaimablePods?.map(({ name, count }) => [name, count]))
  return spec.podSets
    .map(({ name, count }) => ({ name, count: Math.max(Math.min(succeeded[name] ?? 0, count), known.get(name) ?? 0) }))
    .filter(({ name, count }) => count > 0 || known.has(name))
}

/** The time of a transition is set when it is written. */
function condition({ metadata }: Workload, type: string, is: boolean, { reason, message }: Cause): Condition {
  const { generation } = metadata
  return {
    type,
    status: is ? 'True' : 'False',
    reason,
    message: message.slice(0, MAX_MESSAGE),
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

const MAX_MESSAGE = 32_768

function withCondition(conditions: readonly Condition[], next: Condition): readonly Condition[] {
  const isThere = conditions.some(({ type }) => type === next.type)
  return isThere ? conditions.map((one) => (one.type === next.type ? next : one)) : [...conditions, next]
}
