/** What the status says about the run in MLflow. Nothing waits for it: a job trains and completes in the same way without. */
import { getCondition, type Verdict } from '../../../api/conditions.ts'
import type { OutputStatus } from '../../../api/training-output.ts'
import type { TrackingProgress, TrackingStatus } from '../../../api/training-tracking.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { EventNote } from '../../../decision/plan.ts'
import { isTracked } from '../objects/tracked-run.ts'
import { containerOf, type Member } from '../observe/member.ts'
import { withVerdict } from './conditions.ts'
import { modelRegistered, notTracked } from './events.ts'
import type { PlannedStatus } from './status.ts'

export const TRACKED = 'Tracked'
export const MODEL_REGISTERED = 'ModelRegistered'

const UNAVAILABLE = 'Unavailable'

interface TrackingInput {
  readonly job: TrainingJob
  /** Absent if the operator has no MLflow server. */
  readonly tracked?: TrackingProgress
}

interface TrackingReport {
  readonly tracking?: TrackingStatus
  readonly registered?: OutputStatus['registered']
  readonly verdicts: readonly Verdict[]
  readonly events: readonly EventNote[]
}

/** What the status says about the run. Values that this process does not know stay as they are recorded. */
export function trackingIn({ job, tracked }: TrackingInput, gang: readonly Member[]): TrackingReport {
  if (!isTracked(job)) return { verdicts: [], events: [] }
  const { tracking: known = {}, output } = job.status ?? {}
  const { problem: _shown, registered = output?.registered, ...run } = tracked ?? {}
  const tracking: TrackingStatus = { ...known, ...imageOf(known, gang), ...run }
  const shown = trackedVerdict({ job, ...(tracked && { tracked }) }, tracking)
  return {
    ...(Object.keys(tracking).length > 0 && { tracking }),
    ...(registered && { registered }),
    verdicts: [shown, registeredVerdict(job, registered)].filter((one) => one !== undefined),
    events: [...newTrouble(job, shown), ...newVersion(output, registered)],
  }
}

function newVersion(known: OutputStatus | undefined, registered: OutputStatus['registered']): EventNote[] {
  if (!registered || known?.registered) return []
  return [modelRegistered(`Registered version ${registered.version} of model ${registered.name} in MLflow`)]
}

export function withTracking(status: PlannedStatus, { tracking, registered, verdicts }: TrackingReport): PlannedStatus {
  if (verdicts.length === 0 && !tracking) return status
  return {
    ...status,
    ...(tracking && { tracking }),
    ...(registered && { output: { ...status.output, registered } }),
    conditions: verdicts.reduce(withVerdict, status.conditions ?? []),
  }
}

/** Recorded once: the digest of the first pod that reports one. */
function imageOf(known: TrackingStatus, gang: readonly Member[]): Pick<TrackingStatus, 'image'> {
  if (known.image !== undefined) return {}
  const ids = gang.map((member) => containerOf(member)?.imageID ?? '').filter((id) => id.includes('sha256:'))
  return ids[0] === undefined ? {} : { image: ids[0].slice(0, MAX_IMAGE) }
}

const MAX_IMAGE = 1024

function trackedVerdict({ job, tracked }: TrackingInput, { runId }: TrackingStatus): Verdict | undefined {
  const known = getCondition(job.status?.conditions, TRACKED)
  if (!tracked)
    return verdict(job, TRACKED, 'False', {
      reason: 'NotConfigured',
      message: 'The operator has no MLflow server: ask its administrator to set mlflow.url in the configuration',
    })
  // The first message stays: another one at each retry would cost a write.
  if (tracked.problem !== undefined && known?.reason === UNAVAILABLE) return withoutTime(known)
  if (tracked.problem !== undefined)
    return verdict(job, TRACKED, 'False', { reason: UNAVAILABLE, message: tracked.problem })
  if (tracked.runId === undefined) return known && withoutTime(known)
  return verdict(job, TRACKED, 'True', { reason: 'Synced', message: `The job is run ${runId ?? ''} in MLflow` })
}

function registeredVerdict(job: TrainingJob, registered: OutputStatus['registered']): Verdict | undefined {
  if (!registered) return undefined
  const message = `MLflow has the model as version ${registered.version} of ${registered.name}`
  return verdict(job, MODEL_REGISTERED, 'True', { reason: MODEL_REGISTERED, message })
}

function newTrouble({ status }: TrainingJob, next: Verdict | undefined): EventNote[] {
  const known = getCondition(status?.conditions, TRACKED)
  return next?.status === 'False' && known?.status !== 'False' ? [notTracked(next.message)] : []
}

function verdict(
  { metadata: { generation } }: TrainingJob,
  type: string,
  status: Verdict['status'],
  cause: Pick<Verdict, 'reason' | 'message'>,
): Verdict {
  return { type, status, ...cause, ...(generation !== undefined && { observedGeneration: generation }) }
}

function withoutTime({
  lastTransitionTime: _stamped,
  ...rest
}: Verdict & { readonly lastTransitionTime?: string }): Verdict {
  return rest
}
