/** Running the gang: delete the last attempt, wait for the backoff, create the missing pods, and report their state. */
import { getCondition, isTrue } from '../../../api/conditions.ts'
import type { TrainingJobState, TrainingJobStatus } from '../../../api/training-status.ts'
import { type EventNote, toWrite } from '../../../decision/plan.ts'
import { nameWithKind } from '../../../kube/object.ts'
import { earliest } from '../../requeue.ts'
import { millis } from '../../time.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { memberNoun, startsAfterWorkers } from '../frameworks/roles.ts'
import { WORKER } from '../names.ts'
import { childrenOf, secretsOf } from '../objects/children.ts'
import type { Replica } from '../observe/attempt.ts'
import { gangChoice } from '../observe/gang-choice.ts'
import { untilIgnored } from '../observe/ignored-pods.ts'
import type { Member } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { untilRelease } from '../observe/partial-gang.ts'
import { untilRecheck } from '../observe/pending-claims.ts'
import { type Stall, stallOf, untilStalled } from '../observe/stall.ts'
import { type Waiting, waitingFor } from '../observe/waiting.ts'
import { CHANGE_PENDING, RESOURCES_CREATED, STALLED, SUMMARY_CONDITION } from '../report/conditions.ts'
import {
  changeIsPending,
  resourcesCreated,
  trainingStalled,
  trainingStarted,
  waitingProblem,
  workersCreated,
} from '../report/events.ts'
import type { StatusUpdate } from '../report/status.ts'
import { portion } from '../report/wording.ts'
import { untilDeadline } from './deadline.ts'
import { hasOtherTemplate } from './revision.ts'
import { type Actions, keepRecorded, makePlan, type Step, type TrainingPlan } from './step.ts'

/** No pod starts before every pod of the last attempt is gone: two writers would corrupt a checkpoint. */
export const removeStale: Step = (snapshot) => {
  const { engine, observed, attempt, stale } = snapshot
  if (!engine.hasOtherAttempts(observed, attempt.number)) return undefined
  const requeueAfterMs = timeLeft(snapshot)
  return makePlan(snapshot, recordedUpdate(snapshot), { ...engine.remove(observed, stale), requeueAfterMs })
}

/** The pause after a failure. Meanwhile an elastic gang continues without its failed pods, which are deleted. */
export const backOff: Step = (snapshot) => {
  const { job, observed, engine, gang } = snapshot
  const left = (millis(job.status?.restartTime) ?? 0) - observed.now
  const failed = failedMembers(snapshot)
  if (left <= 0 && failed.length === 0) return undefined
  const removal = failed.length > 0 ? engine.remove(observed, failed) : {}
  const requeueAfterMs = earliest(left > 0 ? left : undefined, timeLeft(snapshot))
  const others = gang.filter((member) => !failed.includes(member))
  return makePlan(snapshot, { ...recordedUpdate(snapshot), members: others }, { ...removal, requeueAfterMs })
}

/** Members whose failure is recorded and whose pods still exist. */
function failedMembers({ job, gang }: Snapshot): Member[] {
  const recorded = new Set(job.status?.failedPods)
  return gang.filter(({ pod }) => recorded.has(pod?.metadata.uid ?? ''))
}

export const run = (snapshot: Snapshot): TrainingPlan => {
  const { engine, observed, attempt, gang, replicas } = snapshot
  const wanted = replicasToCreate(snapshot)
  const objects = engine.create(observed, attempt, wanted)
  const created = objects.length > 0 ? wanted : []
  const members = [...gang, ...created.map((replica) => pendingMember(snapshot, replica))]
  const isReady =
    members.length === replicas.length && members.every(({ phase }) => phase === 'Running' || phase === 'Succeeded')
  const choice = gangChoice(observed, attempt)
  const waiting = choice.trouble ? blocked(choice.trouble) : waitingFor(observed, members)
  const state = isReady ? 'Running' : stateWhileWaiting(waiting, snapshot.job.status?.state)
  const { reason, message } = isReady ? startedSummary(snapshot) : waiting
  const secrets = created.length > 0 ? secretsOf(observed) : []
  const isChangePending = choice.isDeferred || hasOtherTemplate(snapshot)
  const stall = isReady ? stallOf(snapshot) : undefined
  const actions: Actions = {
    writes: [...secrets, ...childrenOf(observed, attempt), ...toWrite('apply', objects)],
    requeueAfterMs: nextLook(snapshot),
    events: [
      ...eventsOf(snapshot, { state, waiting, isReady, created: created.length, isChangePending }),
      ...creationEvents(snapshot, members.length),
      ...stallEvents(snapshot, stall),
    ],
  }
  const update = { attempt, members, state, reason, message, isReady, isChangePending }
  return makePlan(snapshot, { ...update, ...(stall && { stall: recordedStall(snapshot) ?? stall.message }) }, actions)
}

/** When time alone decides something about the gang. */
const nextLook = (snapshot: Snapshot): number | undefined =>
  earliest(
    timeLeft(snapshot),
    untilRecheck(snapshot.observed),
    untilStalled(snapshot.observed) || undefined,
    untilRelease(snapshot),
    untilIgnored(snapshot.observed),
  )

const blocked = ({ reason, message }: Trouble): Waiting => ({ reason, message, isProblem: true, isUnschedulable: true })

const startedSummary = ({ job, replicas }: Snapshot): Pick<Waiting, 'reason' | 'message'> => ({
  reason: 'TrainingStarted',
  message: `${portion(replicas.length, replicas.length, memberNoun(job.spec))} running`,
})

const stallEvents = (snapshot: Snapshot, stall: Stall | undefined): EventNote[] =>
  stall && recordedStall(snapshot) === undefined ? [trainingStalled(stall.message, stall.action)] : []

/** The message of the stall that is recorded. It stays, although other ranks may move. */
const recordedStall = ({ job }: Snapshot): string | undefined => getCondition(job.status?.conditions, STALLED)?.message

/** `existing`: members of the gang after this plan. */
function creationEvents({ job, attempt, observed, replicas }: Snapshot, existing: number): EventNote[] {
  const isRecorded = isTrue(job.status?.conditions, RESOURCES_CREATED)
  if (attempt.number > 1 || isRecorded || existing < replicas.length) return []
  return [
    resourcesCreated(
      childrenOf(observed, attempt).map(({ object }) => nameWithKind(object)),
      replicas.length,
    ),
  ]
}

/** Some roles are created only when all workers run. */
function replicasToCreate({ job, missing, gang, attempt }: Snapshot): readonly Replica[] {
  const started = gang.filter(({ role, phase }) => role === WORKER && phase !== 'Pending').length
  return started === attempt.worldSize ? missing : missing.filter(({ role }) => !startsAfterWorkers(job.spec, role))
}

function pendingMember({ job, attempt, engine }: Snapshot, { role, index }: Replica): Member {
  return { role, index, attempt: attempt.number, podName: engine.hostname(job, role, index), phase: 'Pending' }
}

/** A job that has run stays Running or Restarting until all its pods run again. */
function stateWhileWaiting({ isUnschedulable }: Waiting, before: TrainingJobState | undefined): TrainingJobState {
  if (before === 'Running' || before === 'Restarting') return before
  return isUnschedulable ? 'Pending' : 'Initializing'
}

interface Outcome {
  readonly state: TrainingJobState
  readonly waiting: Waiting
  readonly isReady: boolean
  /** Number of pods that this plan creates. */
  readonly created: number
  readonly isChangePending: boolean
}

function eventsOf({ job, attempt, replicas }: Snapshot, outcome: Outcome): EventNote[] {
  const { state, waiting, isReady, created, isChangePending } = outcome
  const { status } = job
  const isNewProblem = !isReady && waiting.isProblem && !status?.reason?.startsWith(`${waiting.reason}:`)
  return [
    ...(created > 0 ? [workersCreated(created, replicas.length, job, attempt.number)] : []),
    ...(state === 'Running' && status?.state !== 'Running'
      ? [trainingStarted(replicas.length, job, attempt.number)]
      : []),
    ...(isChangePending ? changeEvents(status) : []),
    ...(isNewProblem ? [waitingProblem(waiting.reason, waiting.message)] : []),
  ]
}

const changeEvents = (status: TrainingJobStatus | undefined): EventNote[] =>
  isTrue(status?.conditions, CHANGE_PENDING) ? [] : [changeIsPending()]

/** The recorded state and reason, while the job waits. */
export function recordedUpdate(snapshot: Snapshot): StatusUpdate {
  const { status } = snapshot.job
  const recorded = getCondition(status?.conditions, SUMMARY_CONDITION)
  const { reason = 'Restarting', message = 'Waiting to create the workers' } = recorded ?? {}
  return keepRecorded(snapshot, { state: status?.state ?? 'Restarting', reason, message, isReady: false })
}

export function timeLeft({ job, observed }: Snapshot): number | undefined {
  return untilDeadline(job, observed.now)
}
