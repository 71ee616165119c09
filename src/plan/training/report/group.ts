/** What the group of a job with quota says about its pods: whether they run, how many have ended, and how the job ended. */
import { sameJson } from '../../../api/json.ts'
import type { PlannedWrite } from '../../../decision/plan.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Progress } from '../gangs/quota.ts'
import { gangOfGroup } from '../gangs/registry.ts'
import { hasActivePod } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinished } from '../observe/state.ts'
import { SUMMARY_CONDITION } from './conditions.ts'
import type { PlannedStatus } from './status.ts'

export function groupReports(snapshot: Snapshot, status: PlannedStatus): PlannedWrite[] {
  const { groups = [] } = snapshot.observed
  return groups.flatMap((group) => {
    const quota = gangOfGroup(group)?.quota
    const progress = quota && progressFor(group, snapshot, status)
    if (!quota || !progress || group.metadata.deletionTimestamp !== undefined) return []
    const reported = quota.reported(group, progress)
    const known = (group as { readonly status?: object }).status ?? {}
    return sameJson(known, reported) ? [] : [{ how: 'report', object: group, status: reported }]
  })
}

/** Of the recorded end, and of the attempt that has quota by the record. */
function progressFor(group: KubeObject, snapshot: Snapshot, status: PlannedStatus): Progress | undefined {
  const { job, gang, all, attempt } = snapshot
  if (isFinished(job)) return all.some(hasActivePod) ? undefined : endOf(status)
  const { admission, attempt: of } = job.status?.scheduling ?? {}
  if (admission?.uid !== group.metadata.uid || of !== attempt.number || status.attempts !== attempt.number)
    return undefined
  const ended = gang.filter((member) => member.phase === 'Succeeded' && !hasActivePod(member))
  return {
    isReady: status.state === 'Running' && isReady(status),
    succeeded: Object.fromEntries(
      [...Map.groupBy(ended, ({ role }) => role)].map(([role, { length }]) => [role, length]),
    ),
  }
}

const isReady = ({ conditions = [] }: PlannedStatus): boolean =>
  conditions.some(({ type, status }) => type === SUMMARY_CONDITION && status === 'True')

function endOf({ state, reason }: PlannedStatus): Progress {
  const isSuccess = state === 'Completed'
  return { isReady: false, succeeded: {}, end: { isSuccess, message: reason ?? 'Training completed' } }
}
