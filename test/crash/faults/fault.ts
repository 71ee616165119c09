/** Fault plans: what is done to the operator under test, and when. */

/** Crash points of a write: before it is sent; after it is stored, without a response; after the response. */
export const CRASHES = ['unsent', 'unanswered', 'answered'] as const

/**
 * How a write fails while the operator keeps running. `hang`: no response until the call times out. `reset`: the connection
 * breaks before the write is stored. `lost`: it breaks after the write is stored.
 */
export const ERRORS = [
  'conflict',
  'throttled',
  'internal',
  'timeout',
  'quota',
  'terminating',
  'exists',
  'hang',
  'reset',
  'lost',
] as const

/** `pause`: the operator stops before the write, as by SIGSTOP, and sends it after another replica has taken over. */
export const PAUSES = ['pause', 'long pause'] as const

export type Crash = (typeof CRASHES)[number]
export type Failure = (typeof ERRORS)[number]
export type Pause = (typeof PAUSES)[number]

export interface Fault {
  /** Counted from 1, across restarts, retries included. */
  readonly write: number
  /** Counts only writes with this prefix, such as `delete pods/`. Default: all writes. */
  readonly of?: string
  readonly mode: Crash | Failure | Pause
  /** How often the write and its retries fail in a row. Default: once. Only for API failures. */
  readonly times?: number
}

/** Watch events of one kind arrive late, those of all other kinds in time. */
export interface SlowKind {
  /** The plural, as in paths. */
  readonly kind: string
  /** An event is delivered after this many events of other kinds. */
  readonly lag?: number
  /** The watch freezes for a while at this event, counted from 1. */
  readonly frozenAt?: number
}

/** The API server does not serve the kinds of traffic providers for a while. */
export interface Flip {
  /** Begins at this write. */
  readonly write: number
  /** `watch`: lists and watches return 404. `discovery`: discovery omits the kinds as well. */
  readonly denied: 'watch' | 'discovery'
}

export interface FaultPlan {
  readonly faults: readonly Fault[]
  /** After a crash, the operator first reads the state of this many of its own writes ago. */
  readonly lag?: number
  readonly slow?: SlowKind
  /** Seed of the random order of every list. */
  readonly shuffle?: number
  /** Clock skew of the operator. With `jumps`, its sign changes at each restart. */
  readonly clock?: { readonly hours: number; readonly jumps?: boolean }
  readonly flip?: Flip
  /** The namespace is deleted at this write. */
  readonly namespaceDeletedAt?: number
  /** Number of replicas that elect a leader. Default: a single one without leader election. */
  readonly replicas?: number
}

export const isCrash = (mode: Fault['mode']): mode is Crash => (CRASHES as readonly string[]).includes(mode)
export const isPause = (mode: Fault['mode']): mode is Pause => (PAUSES as readonly string[]).includes(mode)

/** A unique and stable text for the plan. */
export function describePlan(plan: FaultPlan): string {
  const { faults, lag, slow, shuffle, clock, flip, namespaceDeletedAt, replicas } = plan
  const parts = [
    ...faults.map(describeFault),
    lag !== undefined && `restart ${lag} writes behind`,
    slow &&
      `${slow.kind} ${slow.lag === undefined ? `frozen at event ${slow.frozenAt}` : `late by ${slow.lag} events`}`,
    shuffle !== undefined && `lists shuffled by ${shuffle}`,
    clock && `clock off by ${clock.hours} h${clock.jumps ? ', jumping' : ''}`,
    flip && `${flip.denied} denied from write ${flip.write}`,
    namespaceDeletedAt !== undefined && `namespace deleted at write ${namespaceDeletedAt}`,
    replicas !== undefined && `${replicas} replicas`,
  ]
  return parts.filter(Boolean).join(', ') || 'no fault'
}

function describeFault({ write, of = 'write', mode, times = 1 }: Fault): string {
  return `${of} ${write} ${mode}${times > 1 ? ` ${times} times` : ''}`
}
