/** `status.scheduling`: the gang scheduler of the attempt, and since when the gang holds only some of its nodes. */
import { compact } from '../../../api/json.ts'
import type { SchedulingStatus } from '../../../api/training-scheduling.ts'
import { timestamp } from '../../time.ts'
import { podGroupOf } from '../objects/pod-group.ts'
import { gangChoice } from '../observe/gang-choice.ts'
import { partialGang } from '../observe/partial-gang.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinal } from '../observe/state.ts'
import type { StatusUpdate } from './status.ts'

/** While no scheduler can place the pods, none is recorded. */
export function schedulingIn(snapshot: Snapshot, update: StatusUpdate): SchedulingStatus | undefined {
  const { observed, job } = snapshot
  const { attempt, state } = update
  const known = job.status?.scheduling
  if (isFinal(job.status?.state)) return known
  const { scheduler, trouble } = gangChoice(observed, attempt)
  if (attempt.number === 0 || trouble) return isFinal(state) ? known && ended(known) : known
  if (isFinal(state)) return ended({ gang: scheduler.name, attempt: attempt.number })
  const isSuspended = state === 'Suspended'
  return compact({
    gang: scheduler.name,
    attempt: attempt.number,
    podGroup: isSuspended ? undefined : podGroupOf(observed, attempt)?.metadata.name,
    partialSince: attempt.number === snapshot.attempt.number ? partialSince(snapshot) : undefined,
    releases: update.releases ?? releasesAfter(update, known),
  })
}

/** What stays of a job that has ended. */
const ended = ({ gang, attempt }: SchedulingStatus): SchedulingStatus => ({ gang, attempt })

/** Counted until all pods run. */
const releasesAfter = ({ isReady, state }: StatusUpdate, known: SchedulingStatus | undefined): number | undefined =>
  isReady || state === 'Suspended' ? undefined : known?.releases

function partialSince(snapshot: Snapshot): string | undefined {
  if (!partialGang(snapshot)) return undefined
  const { job, observed, attempt } = snapshot
  const { partialSince: since, attempt: of } = job.status?.scheduling ?? {}
  return of === attempt.number && since !== undefined ? since : timestamp(observed.now)
}
