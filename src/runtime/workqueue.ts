/**
 * A queue of keys, not of objects: a worker that takes a key looks up the current state, so a hundred changes of one object
 * are one piece of work.
 *
 * Guarantees
 * - A key is queued at most once and never taken again before `done`. Adds in between lead to one more take after `done`.
 * - No add is lost: every `add` is followed by a later `take` of the key, unless the queue closes.
 * - Fairness: within a lane the namespaces take turns, so the wait of a key depends on the number of busy namespaces, not
 *   on the number of keys that one of them has queued. Within a namespace, keys are served in the order of their arrival.
 * - User changes go before background work (resync, first list), but every `BACKGROUND_TURN`th take is background work, so
 *   that neither starves.
 * - At most one delayed add per key: the earliest wins. Taking a key cancels it, because the reconcile decides again.
 * - A key that has failed is not taken before its backoff ends, however often it is added, unless the add ends or shortens
 *   the backoff (see `Wake`).
 *
 * Assumptions
 * - A worker calls `done` exactly once for each key that it takes, also after a failure.
 */
import { keyString, type ObjectKey } from '../kube/object.ts'
import { backoffMs, type BackoffPolicy, defaultBackoff } from './backoff.ts'
import { type Cancel, type Clock, systemClock } from './clock.ts'
import { Lane } from './lane.ts'

export type Priority = 'user' | 'background'

/**
 * The effect of an add on the backoff of a key that has failed.
 * - `ends`: the object has changed, or the object of a name conflict. Retries at once and resets the failure count.
 * - `shortens`: a dependency has changed. Retries no sooner than `SHORTENED_MS` after the failure.
 * - `waits`: the change cannot help, such as that of the status by the failed reconcile. Waits for the whole backoff.
 */
export type Wake = 'ends' | 'shortens' | 'waits'

export interface WorkItem {
  readonly key: ObjectKey
  readonly priority: Priority
  /** Time from ready to taken. */
  readonly waitedMs: number
}

export interface WorkQueueOptions {
  readonly clock?: Clock
  readonly backoff?: BackoffPolicy
  /** From 0 up to 1; the jitter of the backoff. */
  readonly random?: () => number
}

interface Ready {
  readonly key: ObjectKey
  readonly priority: Priority
  readonly since: number
}

interface Delayed {
  readonly at: number
  readonly cancel: Cancel
}

/** Consecutive failures of a key. */
interface Failures {
  readonly count: number
  readonly at: number
  readonly until: number
}

interface Added {
  readonly priority: Priority
  readonly wake: Wake
}

const BACKGROUND_TURN = 10
const SHORTENED_MS = 10_000

export class WorkQueue {
  readonly #clock: Clock
  readonly #backoff: BackoffPolicy
  readonly #random: () => number
  readonly #ready = new Map<string, Ready>()
  readonly #lanes: Record<Priority, Lane> = { user: new Lane(), background: new Lane() }
  readonly #delayed = new Map<string, Delayed>()
  readonly #processing = new Set<string>()
  /** Keys added while being processed: they are queued again when done. */
  readonly #dirty = new Map<string, Added>()
  readonly #failures = new Map<string, Failures>()
  readonly #takers: ((item: WorkItem | undefined) => void)[] = []
  #takes = 0
  #closed = false

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock
    this.#backoff = options.backoff ?? defaultBackoff
    this.#random = options.random ?? Math.random
  }

  /** The number of keys that wait for a worker. */
  get depth(): number {
    return this.#ready.size
  }

  /** The number of keys being processed. */
  get active(): number {
    return this.#processing.size
  }

  /** Makes the key ready now or after its backoff. A user change raises the priority of a key that is already queued. */
  add(key: ObjectKey, priority: Priority = 'user', wake: Wake = 'waits'): void {
    if (this.#closed) return
    const id = keyString(key)
    const heldMs = this.#processing.has(id) ? 0 : this.#heldMs(id, wake)
    if (heldMs > 0) this.addAfter(key, heldMs, priority)
    else this.#makeReady(key, { priority, wake })
  }

  /** Makes the key ready after `ms` at the latest. */
  addAfter(key: ObjectKey, ms: number, priority: Priority = 'user'): void {
    if (this.#closed) return
    const id = keyString(key)
    const at = this.#clock.monotonic() + ms
    const waiting = this.#delayed.get(id)
    if (waiting && waiting.at <= at) return
    waiting?.cancel()
    const fire = (): void => {
      this.#delayed.delete(id)
      this.#makeReady(key, { priority, wake: 'waits' })
    }
    this.#delayed.set(id, { at, cancel: this.#clock.setTimeout(fire, ms) })
  }

  /** Counts a failure and makes the key ready after its backoff. Returns the delay. */
  retry(key: ObjectKey, priority: Priority = 'user'): number {
    const delay = this.hold(key)
    this.addAfter(key, delay, priority)
    return delay
  }

  /** Counts a failure and makes the key ready after a given delay instead of its backoff. */
  retryAfter(key: ObjectKey, ms: number): void {
    this.#fail(key, ms)
    this.addAfter(key, ms)
  }

  /** Counts a failure without a retry. Later adds wait for the backoff. Returns its length. */
  hold(key: ObjectKey): number {
    return this.#fail(key, backoffMs(this.#backoff, this.#failureCount(key) + 1, this.#random()))
  }

  /** Resets the failure count of a key. */
  forget(key: ObjectKey): void {
    this.#failures.delete(keyString(key))
  }

  /** Resolves to the next key when there is one, or to undefined when the queue closes. */
  take(): Promise<WorkItem | undefined> {
    if (this.#closed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#takers.push(resolve)
      this.#serve()
    })
  }

  done(key: ObjectKey): void {
    const id = keyString(key)
    this.#processing.delete(id)
    const added = this.#dirty.get(id)
    this.#dirty.delete(id)
    if (added) this.add(key, added.priority, added.wake)
  }

  /** Drops all queued keys and ends all takes. Keys being processed may still be `done`. */
  close(): void {
    this.#closed = true
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#dirty.clear()
    this.#ready.clear()
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  #failureCount(key: ObjectKey): number {
    return this.#failures.get(keyString(key))?.count ?? 0
  }

  #fail(key: ObjectKey, delayMs: number): number {
    const at = this.#clock.monotonic()
    this.#failures.set(keyString(key), { count: this.#failureCount(key) + 1, at, until: at + delayMs })
    return delayMs
  }

  /** The remaining backoff of a key for an add with this `wake`. */
  #heldMs(id: string, wake: Wake): number {
    const failures = this.#failures.get(id)
    if (!failures) return 0
    if (wake === 'ends') this.#failures.delete(id)
    const { at, until } = failures
    const due = { ends: 0, shortens: Math.min(until, at + SHORTENED_MS), waits: until }[wake]
    return Math.max(0, due - this.#clock.monotonic())
  }

  #makeReady(key: ObjectKey, added: Added): void {
    const id = keyString(key)
    if (this.#processing.has(id)) this.#dirty.set(id, strongest(this.#dirty.get(id), added))
    else this.#enqueue(id, key, added.priority)
    this.#serve()
  }

  #enqueue(id: string, key: ObjectKey, priority: Priority): void {
    const waiting = this.#ready.get(id)
    if (waiting?.priority === priority || waiting?.priority === 'user') return
    if (waiting) this.#lanes[waiting.priority].remove(waiting.key)
    this.#ready.set(id, { key, priority, since: waiting?.since ?? this.#clock.monotonic() })
    this.#lanes[priority].push(key)
  }

  #serve(): void {
    while (this.#takers.length > 0) {
      const id = this.#nextLane().shift()
      if (id === undefined) return
      this.#takers.shift()?.(this.#start(id))
    }
  }

  #nextLane(): Lane {
    const { user, background } = this.#lanes
    if (user.isEmpty) return background
    const turn = this.#takes % BACKGROUND_TURN === BACKGROUND_TURN - 1
    return turn && !background.isEmpty ? background : user
  }

  #start(id: string): WorkItem {
    const { key, priority, since } = this.#ready.get(id) as Ready
    this.#takes += 1
    this.#ready.delete(id)
    this.#delayed.get(id)?.cancel()
    this.#delayed.delete(id)
    this.#processing.add(id)
    return { key, priority, waitedMs: this.#clock.monotonic() - since }
  }
}

const WAKES: readonly Wake[] = ['ends', 'shortens', 'waits']

function strongest(one: Added | undefined, other: Added): Added {
  if (!one) return other
  const priority = one.priority === 'user' || other.priority === 'user' ? 'user' : 'background'
  const wake = WAKES.find((candidate) => one.wake === candidate || other.wake === candidate) ?? 'waits'
  return { priority, wake }
}
