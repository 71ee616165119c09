/**
 * The status of a job, written whole. It speaks of the current attempt; what others keep in it (progress, metrics,
 * checkpoints) stays as it is. Nothing in it changes by the mere passing of time, so a job at rest costs no write: the
 * duration is brought up to date along with whatever else has changed.
 */
import type { Verdict } from '../../api/conditions.ts'
import { limitedVerdict } from '../../api/limited.ts'
import { compact, sameJson } from '../../api/json.ts'
import type { LastFailure, TrainingJobStatus } from '../../api/training-status.ts'
import type { WorkerStatus } from '../../api/training-parts.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { MAX_ALPHA_WORKERS } from '../../api/trainingjob.v1alpha1.ts'
import { type Attempt, gpusOf, rolesOf } from './attempt.ts'
import { conditionsOf, conditionTypes, type Standing } from './conditions.ts'
import { containerOf, isActive, type Member } from './member.ts'
import { WORKER } from './names.ts'
import type { TrainingObserved } from './observed.ts'
import { isFinal } from './state.ts'
import { millis, spoken, timestamp } from '../time.ts'

/** A status before it is stamped with the times of its conditions. */
export type PlannedStatus = Omit<TrainingJobStatus, 'conditions'> & { readonly conditions?: readonly Verdict[] }

/** What a step has decided; what it does not mention stays as it was. */
export interface Facts extends Standing {
  readonly attempt: Attempt
  /** The gang of that attempt, those included that this very plan creates. */
  readonly members: readonly Member[]
  readonly failures?: number
  readonly failedPods?: readonly string[]
  readonly restartTime?: string
  readonly lastFailure?: LastFailure
}

export function statusOf(observed: TrainingObserved, holding: readonly Member[], facts: Facts): PlannedStatus {
  const { job } = observed
  const { generation } = job.metadata
  const known = job.status ?? {}
  const limited = limitedVerdict(job)
  const status: PlannedStatus = compact({
    ...known,
    state: facts.state,
    reason: reasonOf(facts),
    attempts: facts.attempt.number,
    worldSize: facts.attempt.worldSize,
    failures: facts.failures ?? known.failures ?? 0,
    failedPods: facts.failedPods?.length ? facts.failedPods : undefined,
    restartTime: facts.restartTime,
    lastFailure: facts.lastFailure ?? known.lastFailure,
    ...membersIn(job, facts),
    ...timesIn(observed, facts),
    resources: { ...known.resources, ...resourcesHeld(job, holding) },
    observedGeneration: generation,
    conditions: [...othersConditions(known), ...conditionsOf(facts, generation), ...(limited ? [limited] : [])],
  })
  return withDuration(observed, status)
}

function reasonOf({ state, reason, message }: Standing): string | undefined {
  return state === 'Running' || state === 'Completed' ? undefined : `${reason}: ${message}`.slice(0, MAX_REASON)
}

const MAX_REASON = 1024
const MAX_TROUBLE = 128

function membersIn(job: TrainingJob, { members, attempt }: Facts): Partial<PlannedStatus> {
  const workers = members.filter(({ role }) => role === WORKER).toSorted((one, other) => one.index - other.index)
  const roles = rolesOf(job.spec).map(({ name }) => ({ name, ...counts(members.filter(({ role }) => role === name)) }))
  return {
    workers: counts(workers),
    workerStatuses: workers.map((member) => workerStatus(member, attempt)),
    ...(roles.length > 0 && { roles }),
  }
}

export function counts(members: readonly Member[]): Required<NonNullable<PlannedStatus['workers']>> {
  const count = (phase: Member['phase']): number => members.filter((member) => member.phase === phase).length
  return { active: count('Running'), succeeded: count('Succeeded'), failed: count('Failed'), pending: count('Pending') }
}

/**
 * `status` repeats the phase for those who know a worker by it: clients of v1alpha1. A job that is too large for that
 * version says only what is news, so that the status of a thousand workers stays below 100 kB.
 */
function workerStatus(member: Member, { number, worldSize }: Attempt): WorkerStatus {
  const { index, podName, phase } = member
  const trouble = troubleOf(member)
  const status = trouble === undefined ? phase : `${phase}: ${trouble.slice(0, MAX_TROUBLE)}`
  const isTold = trouble !== undefined || worldSize <= MAX_ALPHA_WORKERS
  const restartCount = number - 1 + (containerOf(member)?.restartCount ?? 0)
  return { workerId: index, podName, phase, ...(isTold && { status }), restartCount }
}

/** What keeps it from running, or ended it, in one word. */
function troubleOf(member: Member): string | undefined {
  const { waiting, terminated } = containerOf(member)?.state ?? {}
  if (member.phase === 'Failed') return terminated?.reason
  return waiting?.reason === 'ContainerCreating' || waiting?.reason === 'PodInitializing' ? undefined : waiting?.reason
}

/** What the job keeps others from using: of all members that have a node and have not ended. */
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

function timesIn({ job, now }: TrainingObserved, { state, members }: Facts) {
  const { startTime, completionTime } = job.status ?? {}
  const hasRun = members.some(({ phase }) => phase === 'Running' || phase === 'Succeeded')
  return {
    startTime: startTime ?? (hasRun ? timestamp(now) : undefined),
    completionTime: completionTime ?? (isFinal(state) ? timestamp(now) : undefined),
  }
}

function othersConditions({ conditions = [] }: TrainingJobStatus): Verdict[] {
  const ours: readonly string[] = [...conditionTypes, 'Limited', CONFLICT]
  return conditions
    .filter(({ type }) => !ours.includes(type))
    .map(({ lastTransitionTime: _stamped, ...verdict }) => verdict)
}

function withDuration({ job, now }: TrainingObserved, status: PlannedStatus): PlannedStatus {
  const start = millis(status.startTime)
  if (start === undefined || !isNews(job.status, status)) return status
  const end = millis(status.completionTime) ?? now
  return { ...status, duration: spoken(end - start) }
}

/** A conflict is noticed when the plan is carried out, and noted then. */
const CONFLICT = 'Conflict'

function isNews(known: TrainingJobStatus | undefined, planned: PlannedStatus): boolean {
  const bare = known?.conditions
    ?.filter(({ type }) => type !== CONFLICT)
    .map(({ lastTransitionTime: _stamped, ...verdict }) => verdict)
  return !sameJson({ ...known, conditions: bare }, planned)
}
