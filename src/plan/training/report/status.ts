/**
 * The status of a job, written as a whole. It describes the current attempt; fields of others (progress, metrics,
 * checkpoints) are kept. No field changes by the passing of time alone, so an idle job costs no write: the duration is
 * updated only together with another change.
 */
import type { Verdict } from '../../../api/conditions.ts'
import { compact, sameJson } from '../../../api/json.ts'
import { limitedVerdict } from '../../../api/limited.ts'
import type { WorkerStatus } from '../../../api/training-parts.ts'
import type { LastFailure, TrainingJobStatus } from '../../../api/training-status.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { MAX_ALPHA_WORKERS } from '../../../api/trainingjob.v1alpha1.ts'
import { CONFLICT, conflictConditions } from '../../rejection.ts'
import { formatDuration, millis, timestamp } from '../../time.ts'
import { gpusOf, replicasOf, rolesOf } from '../frameworks/roles.ts'
import { JOB_UID_LABEL, ROLE_LABEL, WORKER } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import { containerOf, isActive, type Member } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { isFinal } from '../observe/state.ts'
import { CHANGE_PENDING, changePending, conditionsOf, conditionTypes, type JobSummary } from './conditions.ts'

/** A status without the transition times of its conditions, which commit adds. */
export type PlannedStatus = Omit<TrainingJobStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }

/** What a step has decided. Failure fields that it omits keep their recorded value. */
export interface StatusUpdate extends JobSummary {
  readonly attempt: Attempt
  /** The gang of that attempt, including the pods that this plan creates. */
  readonly members: readonly Member[]
  /** The pods run with an earlier spec. */
  readonly isChangePending?: boolean
  readonly failures?: number
  readonly unexplainedLosses?: number
  readonly failedPods?: readonly string[]
  readonly restartTime?: string
  readonly lastFailure?: LastFailure
}

export function statusOf(observed: TrainingObserved, all: readonly Member[], update: StatusUpdate): PlannedStatus {
  const { job } = observed
  const { generation } = job.metadata
  const known = job.status ?? {}
  const limited = limitedVerdict(job)
  const members = membersIn(job, update)
  const status: PlannedStatus = compact({
    ...known,
    state: update.state,
    reason: reasonOf(update),
    attempts: update.attempt.number,
    worldSize: update.attempt.worldSize,
    restarts: Math.max(0, update.attempt.number - 1),
    failures: update.failures ?? known.failures ?? 0,
    unexplainedLosses: (update.unexplainedLosses ?? known.unexplainedLosses) || undefined,
    failedPods: update.failedPods?.length ? update.failedPods : undefined,
    restartTime: update.restartTime,
    lastFailure: update.lastFailure ?? known.lastFailure,
    ...members,
    ready: readyPods(job, update.attempt, members),
    selector: `${JOB_UID_LABEL}=${job.metadata.uid ?? ''},${ROLE_LABEL}=${WORKER}`,
    ...timesIn(observed, update),
    resources: { ...known.resources, ...resourcesHeld(job, all) },
    observedGeneration: generation,
    conditions: [
      ...foreignConditions(known),
      ...conditionsOf(update, generation),
      ...conflictConditions(update, generation),
      ...(update.isChangePending ? [changePending(generation)] : []),
      ...(limited ? [limited] : []),
    ],
  })
  return withDuration(observed, status)
}

function reasonOf({ state, reason, message, isReady }: JobSummary): string | undefined {
  const isFine = state === 'Completed' || (state === 'Running' && isReady)
  return isFine ? undefined : `${reason}: ${message}`.slice(0, MAX_REASON)
}

const MAX_REASON = 1024
const MAX_CONTAINER_REASON = 128

function membersIn(job: TrainingJob, { members, attempt }: StatusUpdate): Partial<PlannedStatus> {
  const workers = members.filter(({ role }) => role === WORKER).toSorted((one, other) => one.index - other.index)
  const roles = rolesOf(job.spec).map(({ name }) => ({
    name,
    ...countPhases(members.filter(({ role }) => role === name)),
  }))
  return {
    workers: countPhases(workers),
    workerStatuses: workers.map((member) => workerStatus(member, attempt)),
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
export function workerStatus(member: Member, { number, worldSize }: Attempt): WorkerStatus {
  const { index, podName, phase } = member
  const reason = containerReason(member)
  const status = reason === undefined ? phase : `${phase}: ${reason.slice(0, MAX_CONTAINER_REASON)}`
  const hasStatus = reason !== undefined || worldSize <= MAX_ALPHA_WORKERS
  const restartCount = number - 1 + (containerOf(member)?.restartCount ?? 0)
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
  const placed = members.filter((member) => isActive(member) && member.pod?.spec?.nodeName !== undefined)
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
  const ours: readonly string[] = [...conditionTypes, CHANGE_PENDING, 'Limited', CONFLICT]
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

function hasChanged(known: TrainingJobStatus | undefined, planned: PlannedStatus): boolean {
  const bare = known?.conditions?.map(({ lastTransitionTime: _stamped, ...verdict }) => verdict)
  return !sameJson({ ...known, conditions: bare }, planned)
}
