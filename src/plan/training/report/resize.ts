/** The part of the status about a change of size that has to wait, while the current attempt continues. */
import type { Verdict } from '../../../api/conditions.ts'
import type { ResizeStatus } from '../../../api/training-elastic.ts'
import type { EventNote } from '../../../decision/plan.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinal } from '../observe/state.ts'
import { type PendingResize, wantedResize } from '../observe/wanted-resize.ts'
import { resizeIsPending } from './events.ts'
import type { StatusUpdate } from './status.ts'

/** Only while it is true. */
export const RESIZE_PENDING = 'ResizePending'

/** Undefined if nothing waits after this update: another attempt, a suspended and a finished job have the size of the spec. */
export function pendingResize(snapshot: Snapshot, { attempt, state }: StatusUpdate): PendingResize | undefined {
  if (attempt.number !== snapshot.attempt.number || isFinal(state)) return undefined
  if (state === 'Suspending' || state === 'Suspended') return undefined
  const wanted = wantedResize(snapshot)
  return wanted === 'due' ? undefined : wanted
}

/** One event when a change begins to wait. */
export const resizeEvents = ({ job }: Snapshot, pending: PendingResize | undefined): EventNote[] =>
  pending && job.status?.resize === undefined ? [resizeIsPending(pending.status.message)] : []

export const resizeCondition = ({ reason, message }: ResizeStatus, generation: number | undefined): Verdict => ({
  type: RESIZE_PENDING,
  status: 'True',
  reason,
  message,
  ...(generation !== undefined && { observedGeneration: generation }),
})
