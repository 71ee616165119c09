/**
 * The states of a watch that heals itself, and the one function that leads from each to the next. Pure: `watch.ts`
 * does what a state says and reports the outcome.
 */
import { ApiError, hasCause, isExpired } from './errors.ts'

/** `stream`: the server sends everything as events first. `pages`: an ordinary list, for servers that cannot. */
export type ListMode = 'stream' | 'pages'

export interface Listing {
  readonly phase: 'listing'
  readonly mode: ListMode
  /** Attempts without any progress, since the last that made some. */
  readonly failures: number
}

export interface Watching {
  readonly phase: 'watching'
  /** How to list, should it become necessary again. */
  readonly mode: ListMode
  readonly resourceVersion: string
  readonly failures: number
}

export interface Waiting {
  readonly phase: 'waiting'
  readonly delayMs: number
  /** Why; undefined when the server just hung up. */
  readonly error: unknown
  readonly next: Listing | Watching
}

export type WatchState = Listing | Watching | Waiting

/** What came of doing what a state says. */
export interface Outcome {
  /** How far we are; absent when the list did not complete. */
  readonly resourceVersion?: string
  /** Something new reached the consumer, or at least a bookmark did. */
  readonly progressed: boolean
  /** Absent when the list completed, or the server ended the watch in good order. */
  readonly error?: unknown
}

/** The server reported the error inside the stream it had already accepted. */
export class StreamedError extends ApiError {}

export const BEGINNING: Listing = { phase: 'listing', mode: 'stream', failures: 0 }

const BASE_MS = 200
const CEILING_MS = 3_000

export function stateAfter(state: Listing | Watching, outcome: Outcome, random: () => number): WatchState {
  const failures = outcome.progressed ? 0 : state.failures + 1
  const { error } = outcome
  if (state.phase === 'listing' && outcome.resourceVersion === undefined && cannotStream(state, error)) {
    return { phase: 'listing', mode: 'pages', failures }
  }
  const next = continued(state, outcome, failures)
  if (error === undefined && outcome.progressed) return next
  return { phase: 'waiting', delayMs: delayMs(error, failures, random), error, next }
}

/** From where we are, unless that place is no longer known to the server or was never reached. */
function continued({ mode }: Listing | Watching, outcome: Outcome, failures: number): Listing | Watching {
  const { resourceVersion, error } = outcome
  return resourceVersion === undefined || isLost(error)
    ? { phase: 'listing', mode, failures }
    : { phase: 'watching', mode, resourceVersion, failures }
}

/** Too old to be kept, or so new that this server has never heard of it: either way it leads nowhere. */
function isLost(error: unknown): boolean {
  return isExpired(error) || (error instanceof ApiError && hasCause(error, 'ResourceVersionTooLarge'))
}

/** Refused as a request (400, 422), or accepted and then found impossible. */
function cannotStream({ mode }: Listing, error: unknown): boolean {
  if (mode !== 'stream' || !(error instanceof ApiError) || isLost(error)) return false
  return error.code === 400 || error.code === 422 || error instanceof StreamedError
}

/** The first comes soon, for most faults are gone at once; all are spread, for most faults hit everybody at once. */
function delayMs(error: unknown, failures: number, random: () => number): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  const backoff = Math.min(CEILING_MS, BASE_MS * 2 ** Math.max(0, failures - 1))
  return asked + backoff * (0.5 + random() / 2)
}
