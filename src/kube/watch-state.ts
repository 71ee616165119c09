/**
 * The states of a watch that reconnects, and the transition function. Pure: `watch.ts` acts on a state and reports the
 * outcome.
 */
import { ApiError, hasCause, isExpired } from './errors.ts'

/** `stream`: a streaming list (`sendInitialEvents`). `pages`: a paged list, for servers without streaming lists. */
export type ListMode = 'stream' | 'pages'

export interface Listing {
  readonly phase: 'listing'
  readonly mode: ListMode
  /** Consecutive attempts without progress. */
  readonly failures: number
}

export interface Watching {
  readonly phase: 'watching'
  /** How to list if that becomes necessary again. */
  readonly mode: ListMode
  readonly resourceVersion: string
  readonly failures: number
}

export interface Waiting {
  readonly phase: 'waiting'
  readonly delayMs: number
  /** The cause; undefined if the server ended the watch normally. */
  readonly error: unknown
  readonly next: Listing | Watching
}

export type WatchState = Listing | Watching | Waiting

/** The outcome of acting on a state. */
export interface Outcome {
  /** The version reached; absent if the list is incomplete. */
  readonly resourceVersion?: string
  /** The consumer received at least one update, be it a bookmark. */
  readonly progressed: boolean
  /** Absent if the list is complete or the server ended the watch normally. */
  readonly error?: unknown
}

/** An error that the server reported inside a stream that it had accepted. */
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
  const next = nextState(state, outcome, failures)
  if (error === undefined && outcome.progressed) return next
  return { phase: 'waiting', delayMs: delayMs(error, failures, random), error, next }
}

/** Continues from the version reached. Lists again if there is none or the server no longer knows it. */
function nextState({ mode }: Listing | Watching, outcome: Outcome, failures: number): Listing | Watching {
  const { resourceVersion, error } = outcome
  return resourceVersion === undefined || isVersionLost(error)
    ? { phase: 'listing', mode, failures }
    : { phase: 'watching', mode, resourceVersion, failures }
}

/** The server cannot continue from the version: it is too old, or newer than what this server has. */
function isVersionLost(error: unknown): boolean {
  return isExpired(error) || (error instanceof ApiError && hasCause(error, 'ResourceVersionTooLarge'))
}

/** The server rejects a streaming list (400, 422), or accepts it and then reports an error. */
function cannotStream({ mode }: Listing, error: unknown): boolean {
  if (mode !== 'stream' || !(error instanceof ApiError) || isVersionLost(error)) return false
  return error.code === 400 || error.code === 422 || error instanceof StreamedError
}

/** The first retry comes soon, because most faults are short. Jitter spreads retries, because most faults affect many clients. */
function delayMs(error: unknown, failures: number, random: () => number): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  const backoff = Math.min(CEILING_MS, BASE_MS * 2 ** Math.max(0, failures - 1))
  return asked + backoff * (0.5 + random() / 2)
}
