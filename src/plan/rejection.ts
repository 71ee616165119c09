/** A write that cannot succeed until a person acts, as it is recorded on the object: a quota, a policy, a taken name. */
import type { Verdict } from '../api/conditions.ts'
import type { EventNote } from '../decision/plan.ts'
import type { Trouble } from './pod-trouble.ts'

/** The name of a child is taken by an object that we do not control. */
export const CONFLICT = 'Conflict'

export interface RecordedRejection {
  readonly rejection: Trouble
  /** One event when the rejection is new, else none. */
  readonly events: readonly EventNote[]
}

/**
 * One cause is recorded once. Where the API server words the same rejection differently each time, for example with a
 * request id, the first wording stays: a new one would cost a status write and an event for each retry.
 */
export function recordRejection(known: Trouble | undefined, rejection: Trouble): RecordedRejection {
  if (known && isSameCause(known, rejection)) return { rejection: known, events: [] }
  return { rejection, events: [eventOf(rejection)] }
}

function isSameCause(known: Trouble, { reason, message }: Trouble): boolean {
  if (known.reason !== reason) return false
  return reason === CONFLICT ? known.message === message : stableText(known.message) === stableText(message)
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi
const WORD = /\w+/g

/** The message without ids, times and counts, which differ from one rejection to the next. */
function stableText(message: string): string {
  return message.replaceAll(UUID, '#').replaceAll(WORD, (word) => (/\d/.test(word) ? '#' : word))
}

function eventOf({ reason, message }: Trouble): EventNote {
  if (reason === CONFLICT) return { type: 'Warning', reason, action: 'Apply', note: message }
  return { type: 'Warning', reason: 'ReconcileFailed', action: 'Apply', note: `${reason}: ${message}` }
}

/** The condition `Conflict`, for a rejection by a taken name. */
export function conflictConditions({ reason, message }: Trouble, generation: number | undefined): Verdict[] {
  if (reason !== CONFLICT) return []
  return [
    {
      type: CONFLICT,
      status: 'True',
      reason: 'NotControlled',
      message,
      ...(generation !== undefined && { observedGeneration: generation }),
    },
  ]
}
