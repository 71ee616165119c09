/**
 * Calls the health check of every pod that it follows, each at its own interval, spread over it. It remembers how many checks of a
 * pod failed one after another, and reports a change that matters; decisions are made by others. Only the leader gathers, so
 * only the leader follows pods.
 *
 * Limits: connections at a time in all and by model, and checks started per second in all, so that a model with many slow pods
 * or a short interval cannot hold up the checks of others for long. A check above a limit is delayed.
 */
import { keyString, type ObjectKey } from '../kube/object.ts'
import { checkHealth, type HealthRequest, type HealthResult } from './health-request.ts'
import { isPodAddress } from './pod-address.ts'

export interface HealthTarget extends HealthRequest {
  /** uid of the pod. */
  readonly uid: string
  readonly intervalMs: number
  /** Failed checks in a row that matter. */
  readonly threshold: number
}

/** What the checks of a pod found so far. */
export interface CheckedHealth {
  readonly path: string
  readonly failures: number
  readonly misses: number
  readonly hasPassed: boolean
  readonly answer?: string
}

export interface HealthTimer {
  monotonic(): number
  setTimeout(callback: () => void, ms: number): () => void
}

export interface HealthChecksOptions {
  readonly clock: HealthTimer
  readonly check?: (target: HealthTarget) => Promise<HealthResult>
  /** Which addresses to check. Default: those that pods can have. */
  readonly accepts?: (address: string) => boolean
  readonly random?: () => number
  readonly maxRunning?: number
  readonly maxRunningOfModel?: number
  readonly maxPerSecond?: number
}

interface Followed {
  target: HealthTarget
  failures: number
  misses: number
  hasPassed: boolean
  answer?: string
  cancel: () => void
}

interface Model {
  readonly key: ObjectKey
  readonly pods: Map<string, Followed>
  running: number
}

const DEFAULTS = { maxRunning: 512, maxRunningOfModel: 32, maxPerSecond: 500 }
/** A check above a limit waits for this share of its interval. */
const DELAY = 1 / 8
const SECOND = 1_000

export class HealthChecks {
  readonly #options: Required<HealthChecksOptions>
  /** By kind and key. */
  readonly #models = new Map<string, Model>()
  readonly #wakes: ((key: ObjectKey) => void)[] = []
  readonly #counts: Record<HealthResult['outcome'], number> = { passed: 0, failed: 0, unreachable: 0 }
  #running = 0
  #second = 0
  #started = 0

  constructor(options: HealthChecksOptions) {
    this.#options = { check: checkHealth, accepts: isPodAddress, random: Math.random, ...DEFAULTS, ...options }
  }

  /** Number of followed pods. */
  get size(): number {
    return [...this.#models.values()].reduce((sum, { pods }) => sum + pods.size, 0)
  }

  /** Checks by outcome. */
  get counts(): Readonly<Record<HealthResult['outcome'], number>> {
    return this.#counts
  }

  /** `wake` is called with the key of a model when the health of one of its pods has changed. */
  onChange(wake: (key: ObjectKey) => void): void {
    this.#wakes.push(wake)
  }

  /** The pods that the model has now. Returns what is known of them, by uid. */
  follow(kind: string, key: ObjectKey, targets: readonly HealthTarget[]): ReadonlyMap<string, CheckedHealth> {
    const allowed = targets.filter(({ address }) => this.#options.accepts(address))
    if (allowed.length === 0) {
      this.forget(kind, key)
      return new Map()
    }
    const model = this.#modelOf(kind, key)
    const present = new Set(allowed.map(({ uid }) => uid))
    for (const [uid, { cancel }] of model.pods) {
      if (present.has(uid)) continue
      cancel()
      model.pods.delete(uid)
    }
    for (const target of allowed) this.#followPod(model, target)
    return new Map([...model.pods].map(([uid, followed]) => [uid, shownOf(followed)]))
  }

  forget(kind: string, key: ObjectKey): void {
    const id = `${kind}/${keyString(key)}`
    for (const { cancel } of this.#models.get(id)?.pods.values() ?? []) cancel()
    this.#models.get(id)?.pods.clear()
    this.#models.delete(id)
  }

  close(): void {
    for (const { pods } of this.#models.values()) {
      for (const { cancel } of pods.values()) cancel()
      pods.clear()
    }
    this.#models.clear()
  }

  #modelOf(kind: string, key: ObjectKey): Model {
    const id = `${kind}/${keyString(key)}`
    const model = this.#models.get(id) ?? { key, pods: new Map<string, Followed>(), running: 0 }
    this.#models.set(id, model)
    return model
  }

  #followPod(model: Model, target: HealthTarget): void {
    const known = model.pods.get(target.uid)
    if (known && isSameServer(known.target, target)) {
      known.target = target
      return
    }
    known?.cancel()
    const followed: Followed = { target, failures: 0, misses: 0, hasPassed: false, cancel: () => undefined }
    model.pods.set(target.uid, followed)
    this.#schedule(model, followed, target.intervalMs * this.#options.random())
  }

  #schedule(model: Model, followed: Followed, delayMs: number): void {
    followed.cancel = this.#options.clock.setTimeout(() => void this.#run(model, followed), delayMs)
  }

  async #run(model: Model, followed: Followed): Promise<void> {
    const { target } = followed
    const { check, random } = this.#options
    if (!this.#mayStart(model)) return this.#schedule(model, followed, target.intervalMs * DELAY * (0.5 + random()))
    this.#running += 1
    model.running += 1
    const result = await check(target)
    this.#running -= 1
    model.running -= 1
    this.#counts[result.outcome] += 1
    // Not if it was forgotten meanwhile, or is another server by now.
    if (model.pods.get(target.uid) !== followed) return
    this.#note(model, followed, result)
    this.#schedule(model, followed, followed.target.intervalMs)
  }

  #mayStart(model: Model): boolean {
    const { clock, maxRunning, maxRunningOfModel, maxPerSecond } = this.#options
    const second = Math.floor(clock.monotonic() / SECOND)
    if (second !== this.#second) {
      this.#second = second
      this.#started = 0
    }
    if (this.#running >= maxRunning || model.running >= maxRunningOfModel || this.#started >= maxPerSecond) return false
    this.#started += 1
    return true
  }

  #note({ key }: Model, followed: Followed, result: HealthResult): void {
    const before = stateOf(followed)
    if (result.outcome === 'unreachable') followed.misses += 1
    else followed.misses = 0
    if (result.outcome === 'passed') {
      followed.failures = 0
      followed.hasPassed = true
      delete followed.answer
    }
    if (result.outcome === 'failed') {
      followed.failures += 1
      followed.answer = result.answer
    }
    if (stateOf(followed) !== before) for (const wake of this.#wakes) wake(key)
  }
}

/** What a decision may depend on. */
function stateOf({ failures, misses, target: { threshold } }: Followed): string {
  if (failures >= threshold) return 'failing'
  return misses >= threshold ? 'unreachable' : 'known'
}

function shownOf({ target, failures, misses, hasPassed, answer }: Followed): CheckedHealth {
  return { path: target.path, failures, misses, hasPassed, ...(answer !== undefined && { answer }) }
}

const isSameServer = (one: HealthTarget, other: HealthTarget): boolean =>
  one.address === other.address && one.port === other.port && one.path === other.path
