/**
 * The status of a job, written as a whole. It describes the current attempt; fields of others are kept. No field changes
 * by the passing of time alone, so an idle job costs no write: the duration is updated only together with another change.
 */
import type { Verdict } from '../../../api/conditions.ts'
import { compact } from '../../../api/json.ts'
import { limitedVerdict } from '../../../api/limited.ts'
import type { ResizeStatus } from '../../../api/training-elastic.ts'
import type { PastAttempt } from '../../../api/training-history.ts'
import type { Admission } from '../../../api/training-quota.ts'
import type { SchedulingStatus } from '../../../api/training-scheduling.ts'
import type { WorkerStatus } from '../../../api/training-parts.ts'
import type { CheckpointStatus, LastFailure, SlowestWorker, TrainingJobStatus } from '../../../api/training-status.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { MAX_ALPHA_WORKERS } from '../../../api/trainingjob.v1alpha1.ts'
import { CONFLICT, conflictConditions } from '../../rejection.ts'
import { formatDuration, millis, timestamp } from '../../time.ts'
import { gpusOf, replicasOf, rolesOf } from '../frameworks/roles.ts'
import { historyName, JOB_UID_LABEL, ROLE_LABEL, WORKER } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import { containerOf, hasActivePod, type Member } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { isFinal } from '../observe/state.ts'
import {
  CHANGE_PENDING,
  changePending,
  conditionsOf,
  conditionTypes,
  type JobSummary,
  PROGRESS_UNAVAILABLE,
  STALLED,
  trueCondition,
} from './conditions.ts'
import { hasChanged } from './cost.ts'
import { withGpuUtilization } from './gpu-utilization.ts'
import { CHECKPOINT_HEALTHY, type CheckpointUpdate } from './checkpoint.ts'
import type { ProgressUpdate } from './progress.ts'
import { creationOf } from './creation.ts'
import { RESIZE_PENDING, resizeCondition } from './resize.ts'
import { addedWorkersAfter, restartsOf } from './restarts.ts'

/** A status without the transition times of its conditions, which commit adds. */
export type PlannedStatus = Omit<TrainingJobStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }

/** What a step has decided. Failure fields that it omits keep their recorded value. */
export interface StatusUpdate extends JobSummary {
  readonly attempt: Attempt
  /** The gang of that attempt, including the pods that this plan creates. */
  readonly members: readonly Member[]
  /** The pods run with an earlier spec. */
  readonly isChangePending?: boolean
  /** Since when and where the job makes no progress, if that is so. */
  readonly stall?: string
  /** Recorded with the attempt that it leads to. */
  readonly restarts?: number
  readonly failures?: number
  readonly unexplainedLosses?: number
  readonly failedPods?: readonly string[]
  readonly restartTime?: string
  readonly lastFailure?: LastFailure
  /** What was found out about the checkpoints, instead of what is recorded. */
  readonly checkpoint?: CheckpointStatus
  readonly lastResizeTime?: string
  /** Quota that is granted to the attempt, to be recorded. */
  readonly admission?: Admission
  /** Why the attempt has none. */
  readonly pending?: NonNullable<SchedulingStatus['pending']>
  /** How often in a row the gang has given its nodes back. */
  readonly releases?: number
}

export interface StatusInput {
  readonly observed: TrainingObserved
  /** Members of all attempts. */
  readonly all: readonly Member[]
  readonly progress: ProgressUpdate
  readonly slow: SlowestWorker | undefined
  readonly checkpoint: CheckpointUpdate
  /** A change of size that waits. */
  readonly resize: ResizeStatus | undefined
  readonly attemptHistory: readonly PastAttempt[] | undefined
  readonly scheduling: SchedulingStatus | undefined
}

export function statusOf(input: StatusInput, update: StatusUpdate): PlannedStatus {
  const { observed, all, progress, checkpoint, slow, resize } = input
  const { job } = observed
  const { generation } = job.metadata
  const known = job.status ?? {}
  const restarts = restartsIn(job, update)
  const members = membersIn(job, update, restarts)
  const status: PlannedStatus = compact({
    ...known,
    state: update.state,
    reason: reasonOf(update),
    attempts: update.attempt.number,
    worldSize: update.attempt.worldSize,
    restarts: restarts.restarts,
    addedWorkers: restarts.addedWorkers?.length ? restarts.addedWorkers : undefined,
    ...pastIn(input, update),
    failures: update.failures ?? known.failures ?? 0,
    unexplainedLosses: (update.unexplainedLosses ?? known.unexplainedLosses) || undefined,
    failedPods: update.failedPods?.length ? update.failedPods : undefined,
    restartTime: update.restartTime,
    lastFailure: update.lastFailure ?? known.lastFailure,
    ...members,
    ready: readyPods(job, update.attempt, members),
    selector: `${JOB_UID_LABEL}=${job.metadata.uid ?? ''},${ROLE_LABEL}=${WORKER}`,
    ...timesIn(observed, update),
    ...progress.fields,
    checkpoint: checkpoint.status,
    slowestWorker: slow,
    resources: { ...known.resources, ...resourcesHeld(job, all) },
    observedGeneration: generation,
    conditions: [...conditionsIn(observed, update, resize), ...checkpoint.conditions],
  })
  return withDuration(
    observed,
    withGpuUtilization(observed, status, (one) => hasChanged(job.status, one)),
  )
}

/** Attempts that have ended, changes of size, and the scheduling of this attempt. */
function pastIn(
  { observed, resize, attemptHistory, scheduling }: StatusInput,
  { lastResizeTime, state }: StatusUpdate,
) {
  const { job, config } = observed
  const { history, lastResizeTime: known } = job.status ?? {}
  return {
    attemptHistory,
    resize,
    scheduling,
    lastResizeTime: lastResizeTime ?? known,
    history: isFinal(state) && config.history.enabled ? { configMapName: historyName(job) } : history,
  }
}

function conditionsIn(
  { job, progressProblem }: TrainingObserved,
  update: StatusUpdate,
  resize: ResizeStatus | undefined,
): Verdict[] {
  const { generation } = job.metadata
  const limited = limitedVerdict(job)
  return [
    ...foreignConditions(job.status ?? {}),
    ...conditionsOf(update, creationOf(job, update), generation),
    ...conflictConditions(update, generation),
    ...(update.isChangePending ? [changePending(generation)] : []),
    ...(update.stall === undefined ? [] : [trueCondition(STALLED, 'NoProgress', update.stall, generation)]),
    ...(progressProblem === undefined || update.state !== 'Running'
      ? []
      : [trueCondition(PROGRESS_UNAVAILABLE, 'ReadFailed', progressProblem, generation)]),
    ...(resize ? [resizeCondition(resize, generation)] : []),
    ...(limited ? [limited] : []),
  ]
}

function reasonOf({ state, reason, message, isReady }: JobSummary): string | undefined {
  const isFine = state === 'Completed' || (state === 'Running' && isReady)
  return isFine ? undefined : `${reason}: ${message}`.slice(0, MAX_REASON)
}

const MAX_REASON = 1024
const MAX_CONTAINER_REASON = 128

type Restarts = Pick<PlannedStatus, 'restarts' | 'addedWorkers'>

function restartsIn(job: TrainingJob, { attempt, restarts = job.status?.restarts ?? 0 }: StatusUpdate): Restarts {
  const addedWorkers = addedWorkersAfter(job, attempt, restarts)
  return { restarts, addedWorkers }
}

function membersIn(job: TrainingJob, { members, attempt }: StatusUpdate, restarts: Restarts): Partial<PlannedStatus> {
  const workers = members.filter(({ role }) => role === WORKER).toSorted((one, other) => one.index - other.index)
  const roles = rolesOf(job.spec).map(({ name }) => ({
    name,
    ...countPhases(members.filter(({ role }) => role === name)),
  }))
  return {
    workers: countPhases(workers),
    workerStatuses: workers.map((member) => workerStatus(member, attempt, restarts)),
    ...(roles.length > 0 && { roles }),
  }
}

type Counts = Pick<PlannedStatus, 'workers' | 'roles'>

/** `3/4`, of all roles. Before the first attempt, the size is that of the spec. */
export function readyPods(job: TrainingJob, { worldSize }: Attempt, { workers = {}, roles = [] }: Counts): string {
  const attempt = { number: 0, worldSize: worldSize || job.spec.numWorkers }
  const ready = [workers, ...roles].reduce((sum, { active = 0, succeeded = 0 }) => sum + active + succeeded, 0)
  return `${ready}/${replicasOf(job, attempt).length}`
}

interface Phased {
  readonly phase?: string
}

export function countPhases(members: readonly Phased[]): Required<NonNullable<PlannedStatus['workers']>> {
  const count = (phase: string): number => members.filter((member) => member.phase === phase).length
  return { active: count('Running'), succeeded: count('Succeeded'), failed: count('Failed'), pending: count('Pending') }
}

/**
 * `status` repeats the phase for clients of v1alpha1. Where the job is too large for that version, it is omitted unless it
 * has a reason, so that the status of a thousand workers stays below 100 kB.
 */
export function workerStatus(member: Member, { worldSize }: Attempt, restarts: Restarts): WorkerStatus {
  const { index, podName, phase } = member
  const reason = containerReason(member)
  const status = reason === undefined ? phase : `${phase}: ${reason.slice(0, MAX_CONTAINER_REASON)}`
  const hasStatus = reason !== undefined || worldSize <= MAX_ALPHA_WORKERS
  const restartCount = restartsOf(restarts, index) + (containerOf(member)?.restartCount ?? 0)
  return { workerId: index, podName, phase, ...(hasStatus && { status }), restartCount }
}

/** Why the container waits, or why it failed, in one word. */
function containerReason(member: Member): string | undefined {
  const { waiting, terminated } = containerOf(member)?.state ?? {}
  if (member.phase === 'Failed') return terminated?.reason
  return waiting?.reason === 'ContainerCreating' || waiting?.reason === 'PodInitializing' ? undefined : waiting?.reason
}

/** GPUs and nodes of all members that have a node and have not ended. */
export function resourcesHeld(
  { spec }: TrainingJob,
  members: readonly Member[],
): NonNullable<PlannedStatus['resources']> {
  const placed = members.filter((member) => hasActivePod(member) && member.pod?.spec?.nodeName !== undefined)
  return {
    allocatedGPUs: placed.reduce((sum, { role }) => sum + gpusOf(spec, role), 0),
    allocatedNodes: new Set(placed.map(({ pod }) => pod?.spec?.nodeName)).size,
  }
}

function timesIn({ job, now }: TrainingObserved, { state, members }: StatusUpdate) {
  const { startTime, completionTime } = job.status ?? {}
  const hasRun = members.some(({ phase }) => phase === 'Running' || phase === 'Succeeded')
  return {
    startTime: startTime ?? (hasRun ? timestamp(now) : undefined),
    completionTime: completionTime ?? (isFinal(state) ? timestamp(now) : undefined),
  }
}

function foreignConditions({ conditions = [] }: TrainingJobStatus): Verdict[] {
  const ours: readonly string[] = [
    ...conditionTypes,
    CHANGE_PENDING,
    RESIZE_PENDING,
    STALLED,
    PROGRESS_UNAVAILABLE,
    CHECKPOINT_HEALTHY,
    'Limited',
    CONFLICT,
  ]
  return conditions
    .filter(({ type }) => !ours.includes(type))
    .map(({ lastTransitionTime: _stamped, ...verdict }) => verdict)
}

function withDuration({ job, now }: TrainingObserved, status: PlannedStatus): PlannedStatus {
  const start = millis(status.startTime)
  if (start === undefined || !hasChanged(job.status, status)) return status
  const end = millis(status.completionTime) ?? now
  return { ...status, duration: formatDuration(end - start) }
}
