/** `status.scheduling`: the gang scheduler of the attempt, and since when the gang holds only some of its nodes. */
import { compact } from '../../../api/json.ts'
import type { SchedulingStatus } from '../../../api/training-scheduling.ts'
import { timestamp } from '../../time.ts'
import type { GangScheduler } from '../gangs/contract.ts'
import { podGroupOf } from '../objects/pod-group.ts'
import { gangChoice, queueOf, recordedAdmission } from '../observe/gang-choice.ts'
import { partialGang } from '../observe/partial-gang.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinal, isFinished } from '../observe/state.ts'
import type { StatusUpdate } from './status.ts'

/** While no scheduler can place the pods, none is recorded. */
export function schedulingIn(snapshot: Snapshot, update: StatusUpdate): SchedulingStatus | undefined {
  const { observed, job } = snapshot
  const { attempt, state } = update
  const known = job.status?.scheduling
  if (isFinished(job)) return known
  const { scheduler, trouble } = gangChoice(observed, attempt)
  if (attempt.number === 0 || trouble) return isFinal(state) ? known && choiceIn(known) : known
  const choice = { gang: scheduler.name, attempt: attempt.number }
  return isFinal(state) ? choice : { ...choice, ...placementOf(snapshot, update, scheduler) }
}

const choiceIn = ({ gang, attempt }: SchedulingStatus): SchedulingStatus => ({ gang, attempt })

/** What is recorded of an attempt while it lasts. */
function placementOf(
  snapshot: Snapshot,
  update: StatusUpdate,
  scheduler: GangScheduler,
): Omit<SchedulingStatus, 'gang' | 'attempt'> {
  const { attempt, state, releases } = update
  const isSuspended = state === 'Suspended'
  return compact({
    podGroup: isSuspended ? undefined : groupName(snapshot, update),
    ...(scheduler.quota && !isSuspended && quotaIn(snapshot, update, scheduler)),
    partialSince: attempt.number === snapshot.attempt.number ? partialSince(snapshot) : undefined,
    releases: releases ?? releasesAfter(update, snapshot.job.status?.scheduling),
  })
}

/** The group that was granted quota keeps its name, although the spec may have changed meanwhile. */
function groupName({ observed, job, attempt: current }: Snapshot, { attempt, admission }: StatusUpdate) {
  if (recordedAdmission(observed, attempt)) return job.status?.scheduling?.podGroup
  return podGroupOf(observed, admission ? current : attempt)?.metadata.name
}

function quotaIn({ observed, job }: Snapshot, { attempt, admission, pending }: StatusUpdate, scheduler: GangScheduler) {
  const granted = admission ?? recordedAdmission(observed, attempt)
  return { queueName: queueOf(job, scheduler), pending: granted ? undefined : pending, admission: granted }
}

/** Counted until all pods run. */
const releasesAfter = ({ isReady, state }: StatusUpdate, known: SchedulingStatus | undefined): number | undefined =>
  isReady || state === 'Suspended' ? undefined : known?.releases

function partialSince(snapshot: Snapshot): string | undefined {
  if (!partialGang(snapshot)) return undefined
  const { job, observed, attempt } = snapshot
  const { partialSince: since, attempt: of } = job.status?.scheduling ?? {}
  return of === attempt.number && since !== undefined ? since : timestamp(observed.now)
}
