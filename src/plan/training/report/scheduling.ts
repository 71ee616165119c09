/** `status.scheduling`: the gang scheduler of the attempt, and since when the gang holds only some of its nodes. */
import { compact } from '../../../api/json.ts'
import type { SchedulingStatus } from '../../../api/training-scheduling.ts'
import { timestamp } from '../../time.ts'
import { podGroupOf } from '../objects/pod-group.ts'
import { gangChoice } from '../observe/gang-choice.ts'
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
  return isFinal(state) ? choice : { ...choice, ...placementOf(snapshot, update) }
}

const choiceIn = ({ gang, attempt }: SchedulingStatus): SchedulingStatus => ({ gang, attempt })

/** What is recorded of an attempt while it lasts. */
function placementOf(snapshot: Snapshot, update: StatusUpdate): Omit<SchedulingStatus, 'gang' | 'attempt'> {
  const { observed, job } = snapshot
  const { attempt, state, releases } = update
  return compact({
    podGroup: state === 'Suspended' ? undefined : podGroupOf(observed, attempt)?.metadata.name,
    partialSince: attempt.number === snapshot.attempt.number ? partialSince(snapshot) : undefined,
    releases: releases ?? releasesAfter(update, job.status?.scheduling),
  })
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
