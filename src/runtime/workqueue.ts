/**
 * A queue of keys, never of objects: whoever takes a key looks up the present state, so a hundred changes to one
 * object are one piece of work.
 *
 * Guarantees
 * - A key is queued at most once, and never handed out again before `done`: what arrives meanwhile runs once, after.
 * - Nothing added is lost: every `add` is followed by a `take` of that key that starts later, unless the queue closes.
 * - Fair: within a lane the namespaces take turns, so the wait of a key depends on the number of busy namespaces,
 *   not on the number of keys that one of them has queued. Within a namespace: first come, first served.
 * - User changes go before background work (resync, first list), but every `BACKGROUND_TURN`th take belongs to the
 *   background, so that neither starves.
 * - At most one delayed add per key: the earliest wins. Taking a key cancels it, since its reconcile decides anew.
 *
 * Assumptions
 * - Whoever takes a key calls `done` exactly once, also after a failure.
 */
import { keyString, type ObjectKey } from '../kube/object.ts'
import { backoffMs, type BackoffPolicy, defaultBackoff } from './backoff.ts'
import { type Cancel, type Clock, systemClock } from './clock.ts'

export type Priority = 'user' | 'background'

export interface WorkItem {
  readonly key: ObjectKey
  readonly priority: Priority
  /** How long the key was ready and waiting for a worker. */
  readonly waitedMs: number
}

export interface WorkQueueOptions {
  readonly clock?: Clock
  readonly backoff?: BackoffPolicy
  /** From 0 up to 1, for the jitter of the backoff. */
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

const BACKGROUND_TURN = 10

export class WorkQueue {
  readonly #clock: Clock
  readonly #backoff: BackoffPolicy
  readonly #random: () => number
  readonly #ready = new Map<string, Ready>()
  readonly #lanes: Record<Priority, Lane> = { user: new Lane(), background: new Lane() }
  readonly #delayed = new Map<string, Delayed>()
  readonly #processing = new Set<string>()
  /** Added while being processed: the key goes back into the queue when it is done. */
  readonly #dirty = new Map<string, Priority>()
  readonly #failures = new Map<string, number>()
  readonly #takers: ((item: WorkItem | undefined) => void)[] = []
  #takes = 0
  #closed = false

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock
    this.#backoff = options.backoff ?? defaultBackoff
    this.#random = options.random ?? Math.random
  }

  /** Keys that are ready and wait for a worker. */
  get depth(): number {
    return this.#ready.size
  }

  /** Keys that are being worked on. */
  get active(): number {
    return this.#processing.size
  }

  /** Makes the key ready now. A user change lifts a key that waits as background work. */
  add(key: ObjectKey, priority: Priority = 'user'): void {
    if (this.#closed) return
    const id = keyString(key)
    if (this.#processing.has(id)) {
      this.#dirty.set(id, strongest(this.#dirty.get(id), priority))
    } else {
      this.#enqueue(id, key, priority)
    }
    this.#serve()
  }

  /** Makes the key ready after `ms`, unless something makes it ready sooner. */
  addAfter(key: ObjectKey, ms: number, priority: Priority = 'user'): void {
    if (this.#closed) return
    const id = keyString(key)
    const at = this.#clock.monotonic() + ms
    const waiting = this.#delayed.get(id)
    if (waiting && waiting.at <= at) return
    waiting?.cancel()
    const fire = (): void => {
      this.#delayed.delete(id)
      this.add(key, priority)
    }
    this.#delayed.set(id, { at, cancel: this.#clock.setTimeout(fire, ms) })
  }

  /** Counts one more failure in a row and makes the key ready after the backoff that this earns. Returns the delay. */
  retry(key: ObjectKey, priority: Priority = 'user'): number {
    const id = keyString(key)
    const failures = (this.#failures.get(id) ?? 0) + 1
    this.#failures.set(id, failures)
    const delay = backoffMs(this.#backoff, failures, this.#random())
    this.addAfter(key, delay, priority)
    return delay
  }

  /** Ends the row of failures of a key. */
  forget(key: ObjectKey): void {
    this.#failures.delete(keyString(key))
  }

  failures(key: ObjectKey): number {
    return this.#failures.get(keyString(key)) ?? 0
  }

  /** The next key, as soon as there is one; `undefined` once the queue is closed. */
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
    const priority = this.#dirty.get(id)
    this.#dirty.delete(id)
    if (priority) this.add(key, priority)
  }

  /** Hands out nothing more and forgets what was queued; keys in work may still be `done`. */
  close(): void {
    this.#closed = true
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#dirty.clear()
    this.#ready.clear()
    for (const taker of this.#takers.splice(0)) taker(undefined)
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

/** A first-in, first-out set. Its one live iterator sees what is added later, so taking the first stays constant time. */
class Fifo<T> {
  readonly #members = new Set<T>()
  #iterator = this.#members.values()

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  /** Does nothing for a member: it keeps its place. */
  push(member: T): void {
    this.#members.add(member)
  }

  remove(member: T): void {
    this.#members.delete(member)
  }

  shift(): T | undefined {
    const { done, value } = this.#iterator.next()
    if (!done) this.#members.delete(value)
    else this.#iterator = this.#members.values()
    return value
  }
}

/** Keys by namespace; the namespaces take turns. */
class Lane {
  readonly #keys = new Map<string, Fifo<string>>()
  readonly #turns = new Fifo<string>()
  /** Had the last turn and has more: lines up again at the next turn, behind whoever has come meanwhile. */
  #served: string | undefined

  get isEmpty(): boolean {
    return this.#keys.size === 0
  }

  push(key: ObjectKey): void {
    const namespace = key.namespace ?? ''
    const keys = this.#keys.get(namespace) ?? this.#open(namespace)
    keys.push(keyString(key))
  }

  remove(key: ObjectKey): void {
    const namespace = key.namespace ?? ''
    const keys = this.#keys.get(namespace)
    keys?.remove(keyString(key))
    if (keys?.isEmpty) this.#close(namespace)
  }

  shift(): string | undefined {
    if (this.#served !== undefined) this.#turns.push(this.#served)
    this.#served = this.#turns.shift()
    if (this.#served === undefined) return undefined
    const keys = this.#keys.get(this.#served)
    const id = keys?.shift()
    if (keys?.isEmpty) this.#close(this.#served)
    return id
  }

  #open(namespace: string): Fifo<string> {
    const keys = new Fifo<string>()
    this.#keys.set(namespace, keys)
    this.#turns.push(namespace)
    return keys
  }

  #close(namespace: string): void {
    this.#keys.delete(namespace)
    this.#turns.remove(namespace)
    if (this.#served === namespace) this.#served = undefined
  }
}

function strongest(one: Priority | undefined, other: Priority): Priority {
  return one === 'user' || other === 'user' ? 'user' : 'background'
}
