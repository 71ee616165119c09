/** What a plan does to the program under test, and when. */

/** Ways to die at a write: it is not sent; it is stored but the answer is lost; it is stored and answered. */
export const DEATHS = ['unsent', 'unanswered', 'answered'] as const

/**
 * Ways in which a write fails while the program lives on: refused as a conflict, or because there is too much to do; broken
 * off by a server that has not done it; done, but the connection is lost before the answer.
 */
export const ERRORS = ['conflict', 'throttled', 'broken', 'lost'] as const

export type Death = (typeof DEATHS)[number]
export type Failure = (typeof ERRORS)[number]

export interface Fault {
  /** Counted from 1, over all lives of the program, repetitions included. */
  readonly write: number
  /** How the writes begin that are counted, such as `delete pods/`; all are, if absent. */
  readonly of?: string
  readonly mode: Death | Failure
}

export interface FaultPlan {
  readonly faults: readonly Fault[]
  /** After a death the program first sees the world as it was so many of its own writes ago. */
  readonly lag?: number
}

export const isDeath = (mode: Fault['mode']): mode is Death => (DEATHS as readonly string[]).includes(mode)

export function describePlan({ faults, lag }: FaultPlan): string {
  const at = faults.map(({ write, of = 'write', mode }) => `${of} ${write} ${mode}`).join(', ')
  return lag === undefined ? at : `${at}, then ${lag} behind`
}
