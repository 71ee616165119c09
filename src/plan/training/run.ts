/** The work itself: make room, wait if there was a failure, fill the seats, and say how it goes. */
import { getCondition } from '../../api/conditions.ts'
import type { TrainingJobState } from '../../api/training-status.ts'
import type { EventNote } from '../plan.ts'
import { soonest } from '../plan.ts'
import type { Seat } from './attempt.ts'
import { childrenOf, secretsOf } from './children.ts'
import { WHY } from './conditions.ts'
import { untilDeadline } from './deadline.ts'
import { trainingStarted, waits, workersCreated } from './events.ts'
import type { Member } from './member.ts'
import { WORKER } from './names.ts'
import type { Scene } from './scene.ts'
import { type Doings, plan, type Step, type TrainingPlan, unchanged } from './step.ts'
import { millis } from '../time.ts'
import { type Waiting, waitingFor } from './waiting.ts'

/** Nothing of this attempt starts before everything of the last one is gone: two writers would ruin a checkpoint. */
export const makeRoom: Step = (scene) => {
  const { engine, observed, attempt, stale } = scene
  if (!engine.isOccupied(observed, attempt.number)) return undefined
  return plan(scene, asBefore(scene), { ...engine.clear(observed, stale), requeueAfterMs: timeLeft(scene) })
}

/** The pause after a failure. An elastic gang meanwhile goes on without those who failed, whose pods are removed. */
export const pause: Step = (scene) => {
  const { job, observed, engine, gang } = scene
  const left = (millis(job.status?.restartTime) ?? 0) - observed.now
  const failed = failedMembers(scene)
  if (left <= 0 && failed.length === 0) return undefined
  const doings = failed.length > 0 ? engine.clear(observed, failed) : {}
  const requeueAfterMs = soonest(left > 0 ? left : undefined, timeLeft(scene))
  const others = gang.filter((member) => !failed.includes(member))
  return plan(scene, { ...asBefore(scene), members: others }, { ...doings, requeueAfterMs })
}

/** Members whose failure is accounted for and who are still there. */
function failedMembers({ job, gang }: Scene): Member[] {
  const known = new Set(job.status?.failedPods)
  return gang.filter(({ pod }) => known.has(pod?.metadata.uid ?? ''))
}

export const run = (scene: Scene): TrainingPlan => {
  const { engine, observed, attempt, gang, seats } = scene
  const filled = seatsToFill(scene)
  const created = engine.occupy(observed, attempt, filled)
  const members = [...gang, ...(created.length > 0 ? filled.map((seat) => newcomer(scene, seat)) : [])]
  const isReady =
    members.length === seats.length && members.every(({ phase }) => phase === 'Running' || phase === 'Succeeded')
  const waiting = waitingFor(observed, members)
  const state = isReady ? 'Running' : stateWhile(waiting, scene.job.status?.state)
  const standing = isReady
    ? { reason: 'TrainingStarted', message: `${seats.length} of ${seats.length} workers run` }
    : waiting
  const children = childrenOf(observed, attempt)
  const doings: Doings = {
    ...(created.length > 0 && secretsOf(observed)),
    ...children,
    apply: [...children.apply, ...created],
    requeueAfterMs: timeLeft(scene),
    events: eventsOf(scene, { state, waiting, isReady, filled: created.length > 0 ? filled.length : 0 }),
  }
  return plan(scene, { attempt, members, state, reason: standing.reason, message: standing.message, isReady }, doings)
}

/** A launcher calls the workers as soon as it starts, so it starts when they all have: before, it would call in vain. */
function seatsToFill({ empty, gang, attempt }: Scene): readonly Seat[] {
  const up = gang.filter(({ role, phase }) => role === WORKER && phase !== 'Pending').length
  return up === attempt.worldSize ? empty : empty.filter(({ role }) => role !== 'launcher')
}

function newcomer({ job, attempt, engine }: Scene, { role, index }: Seat): Member {
  return { role, index, attempt: attempt.number, podName: engine.hostname(job, role, index), phase: 'Pending' }
}

/** Until all run: what has run before is restarting, or runs on without some; else it depends on who has a node. */
function stateWhile({ isUnschedulable }: Waiting, before: TrainingJobState | undefined): TrainingJobState {
  if (before === 'Running' || before === 'Restarting') return before
  return isUnschedulable ? 'Pending' : 'Initializing'
}

interface Outcome {
  readonly state: TrainingJobState
  readonly waiting: Waiting
  readonly isReady: boolean
  readonly filled: number
}

function eventsOf({ job, attempt, seats }: Scene, { state, waiting, isReady, filled }: Outcome): EventNote[] {
  const { status } = job
  const isNewProblem = !isReady && waiting.isProblem && !status?.reason?.startsWith(`${waiting.reason}:`)
  return [
    ...(filled > 0 ? [workersCreated(filled, seats.length, attempt.number)] : []),
    ...(state === 'Running' && status?.state !== 'Running' ? [trainingStarted(seats.length, attempt.number)] : []),
    ...(isNewProblem ? [waits(waiting.reason, waiting.message)] : []),
  ]
}

/** Where the job stood, while it waits. */
function asBefore(scene: Scene) {
  const { status } = scene.job
  const known = getCondition(status?.conditions, WHY)
  const { reason = 'Restarting', message = 'the workers are about to be created' } = known ?? {}
  return unchanged(scene, { state: status?.state ?? 'Restarting', reason, message, isReady: false })
}

function timeLeft({ job, observed }: Scene): number | undefined {
  return untilDeadline(job, observed.now)
}
