/** Deletes the namespace in the middle of a scenario. The operator must neither block the deletion nor write in a loop. */
import type { Client } from '../../../src/kube/client.ts'
import { isNotFound } from '../../../src/kube/errors.ts'
import { Namespace } from '../../../src/kube/resources.ts'
import { until } from '../../timing/until.ts'

/** How long a namespace may take to be gone. Most of this is spent by Kubernetes' own controllers. */
const GONE_MS = 90_000
/** The patience of scenarios that goes with it. A busy machine needs more of both. */
const PATIENCE_MS = 180_000
/** More writes than this after the deletion are a loop: a scenario has about twenty, and each may be retried. */
const MOST_WRITES = 60

export class NamespaceDeletion {
  readonly #client: Client
  readonly #name: string
  readonly #at: number | undefined
  readonly #goneMs: number
  readonly #deleted = Promise.withResolvers<void>()
  #writesBefore: number | undefined

  constructor(client: Client, namespace: string, at: number | undefined, patienceMs = PATIENCE_MS) {
    this.#client = client
    this.#name = namespace
    this.#at = at
    this.#goneMs = Math.max(GONE_MS, (GONE_MS * patienceMs) / PATIENCE_MS)
  }

  get isPlanned(): boolean {
    return this.#at !== undefined
  }

  /** No resync during the deletion, so that every write is caused by the operator's own retries. */
  get resyncMs(): number | undefined {
    return this.isPlanned ? this.#goneMs : undefined
  }

  get hasBegun(): boolean {
    return this.#writesBefore !== undefined
  }

  onWrite(write: number): void {
    if (write === this.#at) void this.#delete(write)
  }

  /** Runs the scenario until the namespace is deleted. Returns the violations. */
  async run(scenario: () => Promise<void>, attempts: readonly string[]): Promise<string[]> {
    const ended = scenario().catch(() => undefined)
    await Promise.race([ended, this.#deleted.promise])
    if (!this.hasBegun) await this.#delete(attempts.length)
    await Promise.all([ended, this.#deleted.promise])
    await until(`N1: namespace ${this.#name} to be gone`, () => this.#isGone(), this.#goneMs)
    const after = attempts.slice(this.#writesBefore)
    return after.length > MOST_WRITES
      ? [`G7: ${after.length} writes into a terminating namespace, last ${after.slice(-5).join('; ')}`]
      : []
  }

  async #delete(writes: number): Promise<void> {
    this.#writesBefore = writes
    await this.#client.delete(Namespace, { name: this.#name }).then(this.#deleted.resolve).catch(this.#deleted.reject)
  }

  async #isGone(): Promise<boolean> {
    try {
      await this.#client.get(Namespace, { name: this.#name })
      return false
    } catch (error) {
      if (isNotFound(error)) return true
      throw error
    }
  }
}
