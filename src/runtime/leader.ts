/**
 * Leader election with a Lease: of several processes, one is the leader.
 *
 * Guarantees
 * - `isLeading` is true only within `renewDeadlineMs` after the sending of a renewal that the server accepted, measured on
 *   this process's monotonic clock, which also advances while the process is stopped.
 * - A candidate takes over only after it has itself observed the same Lease unchanged for the duration that the holder
 *   announced, or after a release. It never compares its clock with a time that another process wrote.
 * - So there are at least `durationMs - renewDeadlineMs` between two leaders. In this time, writes that are already sent
 *   can arrive.
 *
 * Assumptions
 * - `identity` is unique to the process.
 * - Clocks run at about the same speed. Their absolute time does not matter.
 * - A lease is not a lock: a write that is delayed longer than this margin still takes effect. Writes must be safe by
 *   themselves.
 */
import type { Client } from '../kube/client.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../kube/errors.ts'
import { keyString, type ObjectKey } from '../kube/object.ts'
import { Lease } from '../kube/resources.ts'
import { microTime } from '../kube/time.ts'
import { spread } from './backoff.ts'
import { type Clock, pause } from './clock.ts'
import type { Logger } from './log.ts'

export interface LeaderElection {
  readonly lease: Required<ObjectKey>
  /** Unique to this process. The manager's default is the host name and a random part. */
  readonly identity: string
  /** `host:port` at which candidates reach this process while it leads. Published in the Lease. */
  readonly address?: string
  /** How long candidates wait after the last renewal, in whole seconds. */
  readonly durationMs?: number
  /** How long the leader acts without a successful renewal; less than the duration. */
  readonly renewDeadlineMs?: number
  /** The time between two renewals. */
  readonly retryMs?: number
}

export interface LeaderDeps {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly random?: () => number
}

/** On the Lease: the address of its holder. */
const ADDRESS_ANNOTATION = 'ml.example.com/leader-address'
const JITTER = 0.2
const POLLS_PER_RENEWAL = 4

export class LeaderElector {
  readonly #election: Required<Omit<LeaderElection, 'address'>> & Pick<LeaderElection, 'address'>
  readonly #client: Client
  readonly #clock: Clock
  readonly #log: Logger
  readonly #random: () => number
  /** The Lease that the next write updates; absent if it must be read first. */
  #lease: Lease | undefined
  #observedVersion: string | undefined
  #leaderAddress: string | undefined
  /** When the last observed Lease of another holder expires. */
  #expiresAt = -Infinity
  #renewedAt = -Infinity

  constructor(election: LeaderElection, deps: LeaderDeps) {
    this.#election = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000, ...election }
    const { durationMs, renewDeadlineMs, retryMs } = this.#election
    if (!(retryMs < renewDeadlineMs && renewDeadlineMs < durationMs)) {
      throw new RangeError('leader election needs retryMs < renewDeadlineMs < durationMs')
    }
    this.#client = deps.client
    this.#clock = deps.clock
    this.#log = deps.log.child({ lease: keyString(election.lease), identity: election.identity })
    this.#random = deps.random ?? Math.random
  }

  get isLeading(): boolean {
    return this.#clock.monotonic() < this.#deadline
  }

  /** The address of the leader, as a candidate has last observed it. It may no longer lead, or be gone. */
  get leaderAddress(): string | undefined {
    return this.#leaderAddress
  }

  /** Resolves when this process is the leader or the signal aborts. */
  async acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.attempt(signal)) return this.#log.info('became leader')
      await pause(this.#clock, this.#untilNextAttempt(), signal)
    }
  }

  /** Renews the lease until it is lost (`lost`) or the signal aborts (`stopped`: this process is still the leader). */
  async hold(signal: AbortSignal): Promise<'lost' | 'stopped'> {
    while (!signal.aborted && this.isLeading) {
      await pause(this.#clock, this.#untilNextAttempt(), signal)
      if (signal.aborted) break
      await this.attempt(signal)
    }
    if (this.isLeading) return 'stopped'
    this.#log.error('lost the lease')
    return 'lost'
  }

  /** Releases the lease, so that the next leader does not wait. Call it only when nothing writes any more. */
  async release(): Promise<void> {
    const held = this.#lease
    if (!this.isLeading || !held) return
    this.#renewedAt = -Infinity
    try {
      const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#now() }
      await this.#client.update(Lease, { ...held, spec }, { timeoutMs: this.#election.retryMs })
      this.#log.info('released the lease')
    } catch (error) {
      this.#log.warn({ err: error }, 'releasing the lease failed: it will expire')
    }
  }

  get #deadline(): number {
    return this.#renewedAt + this.#election.renewDeadlineMs
  }

  /** Tries once to create, acquire or renew the lease. Returns whether this process is the leader. Never throws. */
  async attempt(signal: AbortSignal): Promise<boolean> {
    const sentAt = this.#clock.monotonic()
    const { deadline, cancel } = this.#attemptDeadline(signal)
    try {
      this.#lease ??= await this.#read(deadline)
      if (this.#lease && !this.#isFree(this.#lease)) return this.#standBy()
      this.#observe(await this.#write(this.#lease, deadline))
      this.#renewedAt = sentAt
      return this.isLeading
    } catch (error) {
      this.#lease = undefined
      const usual = isConflict(error) || isAlreadyExists(error) || signal.aborted
      this.#log[usual ? 'debug' : 'warn']({ err: error }, 'reading or writing the lease failed')
      return this.isLeading
    } finally {
      cancel()
    }
  }

  /** Another process holds the lease. The next attempt reads it again. */
  #standBy(): false {
    this.#renewedAt = -Infinity
    this.#lease = undefined
    return false
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      const lease = await this.#client.get(Lease, this.#election.lease, { signal })
      this.#observe(lease)
      return lease
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  #write(current: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { identity, durationMs } = this.#election
    const taken = current?.spec?.holderIdentity !== identity
    const metadata = this.#metadata(current, taken)
    const spec = {
      ...current?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime: this.#now(),
      ...(taken && { acquireTime: this.#now(), leaseTransitions: (current?.spec?.leaseTransitions ?? -1) + 1 }),
    }
    if (current) return this.#client.update(Lease, { ...current, metadata, spec }, { signal })
    return this.#client.create(
      Lease,
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec },
      { signal },
    )
  }

  /** A new holder replaces the address. */
  #metadata(current: Lease | undefined, taken: boolean): Lease['metadata'] {
    const metadata: Lease['metadata'] = current?.metadata ?? this.#election.lease
    if (!taken) return metadata
    const { [ADDRESS_ANNOTATION]: _last, ...annotations } = metadata.annotations ?? {}
    const { address } = this.#election
    return {
      ...metadata,
      annotations: { ...annotations, ...(address !== undefined && { [ADDRESS_ANNOTATION]: address }) },
    }
  }

  #observe(lease: Lease): void {
    this.#lease = lease
    this.#leaderAddress = lease.metadata.annotations?.[ADDRESS_ANNOTATION]
    if (lease.metadata.resourceVersion === this.#observedVersion) return
    this.#observedVersion = lease.metadata.resourceVersion
    const announcedMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000 || this.#election.durationMs
    this.#expiresAt = this.#clock.monotonic() + announcedMs
  }

  #isFree(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity
    return !holder || holder === this.#election.identity || this.#clock.monotonic() >= this.#expiresAt
  }

  /**
   * A candidate polls more often than the leader renews, because it counts from when it observed a renewal, not from when
   * that was sent. It also polls at the time when the lease of the holder expires.
   */
  #untilNextAttempt(): number {
    const regular = spread(this.#election.retryMs, JITTER, this.#random())
    if (this.isLeading) return regular
    const expiry = this.#expiresAt - this.#clock.monotonic()
    return Math.min(regular / POLLS_PER_RENEWAL, expiry > 0 ? expiry : Infinity)
  }

  /** An attempt of the leader ends at its deadline, so that the loss is noticed in time; that of a candidate after half of it. */
  #attemptDeadline(signal: AbortSignal): { deadline: AbortSignal; cancel: () => void } {
    const controller = new AbortController()
    const abort = (): void => controller.abort(new Error('the attempt took too long'))
    const left = this.isLeading ? this.#deadline - this.#clock.monotonic() : Infinity
    const cancelTimer = this.#clock.setTimeout(abort, Math.min(left, this.#election.renewDeadlineMs / 2))
    signal.addEventListener('abort', abort, { once: true })
    const cancel = (): void => {
      cancelTimer()
      signal.removeEventListener('abort', abort)
    }
    return { deadline: controller.signal, cancel }
  }

  #now(): string {
    return microTime(new Date(this.#clock.now()))
  }
}
