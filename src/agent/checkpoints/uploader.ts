/**
 * Uploads each complete checkpoint of a directory to a bucket, the newest first, until it is stopped. Then it uploads the
 * newest one and ends. Errors are repeated: a store that is not available must not end the training.
 */
import { sleep } from '../../kube/sleep.ts'
import { TransientError } from '../transfer/error.ts'
import { retrying } from '../transfer/retry.ts'
import { durationText } from '../transfer/size.ts'
import { textOf } from './command.ts'
import { copyBeside } from './copy.ts'
import { type Checkpoint, listCheckpoints, type Listing, newestFirst } from './inspection.ts'
import { prune, type PruneOptions } from './prune.ts'
import type { Report } from './report.ts'
import type { CheckpointStore } from './store.ts'

export interface UploaderOptions extends Omit<PruneOptions, 'signal'> {
  readonly from: CheckpointStore
  readonly to: CheckpointStore
  readonly report: Report | undefined
  /** Aborts when the pod is terminated. */
  readonly stop: AbortSignal
  readonly pollMs?: number
  readonly maxBackoffMs?: number
}

const POLL_MS = 2_000
const MAX_BACKOFF_MS = 60_000
const FIRST_BACKOFF_MS = 1_000

export class Uploader {
  readonly #options: UploaderOptions
  /** Digests of the checkpoints that the bucket has, or has had. */
  readonly #uploaded = new Set<string>()
  #newest: Checkpoint | undefined
  #reported: Checkpoint | undefined
  #isListed = false

  constructor(options: UploaderOptions) {
    this.#options = options
  }

  /** Resolves when it was stopped and the newest complete checkpoint is in the bucket. */
  async run(): Promise<void> {
    const { stop, log, pollMs = POLL_MS, maxBackoffMs = MAX_BACKOFF_MS } = this.#options
    for (let failures = 0; ;) {
      const isStopping = stop.aborted
      try {
        const isIdle = await this.#pass()
        failures = 0
        if (!isIdle) continue
        if (isStopping) return
        await this.#pause(pollMs)
      } catch (error) {
        // An older checkpoint was interrupted: the newest one is next.
        if (stop.aborted && !isStopping) continue
        log(`cannot upload: ${textOf(error)}`)
        await this.#pause(Math.min(FIRST_BACKOFF_MS * 2 ** failures++, maxBackoffMs))
      }
    }
  }

  /** Uploads at most one checkpoint. Resolves to whether there was none. */
  async #pass(): Promise<boolean> {
    if (!this.#isListed) await this.#listBucket()
    const { complete } = await this.#list(this.#options.from)
    const pending = this.#wanted(complete).filter(({ digest }) => !this.#uploaded.has(digest))
    const isUploaded = await this.#uploadFirst(pending, complete[0])
    await this.#report()
    if (isUploaded) await this.#prune()
    return pending.length === 0
  }

  /** Uploads the first one that can be uploaded: one that is damaged does not stop the others. */
  async #uploadFirst(pending: readonly Checkpoint[], newest: Checkpoint | undefined): Promise<boolean> {
    const failures: unknown[] = []
    for (const one of pending) {
      try {
        this.#note(await this.#upload(one, one === newest))
        return true
      } catch (error) {
        if (error instanceof TransientError || this.#options.stop.aborted) throw error
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return false
  }

  #wanted(complete: readonly Checkpoint[]): readonly Checkpoint[] {
    const { keepLast, stop } = this.#options
    if (stop.aborted) return complete.slice(0, 1)
    return keepLast === 0 ? complete : complete.slice(0, keepLast)
  }

  async #listBucket(): Promise<void> {
    for (const one of (await this.#list(this.#options.to)).complete) this.#note(one)
    this.#isListed = true
  }

  #note(one: Checkpoint): void {
    this.#uploaded.add(one.digest)
    if (this.#newest === undefined || newestFirst(one, this.#newest) < 0) this.#newest = one
  }

  #list(store: CheckpointStore): Promise<Listing> {
    return retrying(this.#options.retryPolicy, NEVER, () => listCheckpoints(store, NEVER))
  }

  /** An older checkpoint does not delay the end of the pod. */
  async #upload({ name }: Checkpoint, isNewest: boolean): Promise<Checkpoint> {
    const { from, to, retryPolicy, stop, log } = this.#options
    const began = performance.now()
    const copy = await copyBeside({ from, to, name }, { retryPolicy, signal: isNewest ? NEVER : stop })
    log(`uploaded ${to.shown}/${copy.name} in ${durationText((performance.now() - began) / 1_000)}`)
    return copy
  }

  async #prune(): Promise<void> {
    const { from, to } = this.#options
    for (const store of [to, from]) await prune(store, await this.#list(store), { ...this.#options, signal: NEVER })
  }

  /** A report that fails is sent again after the next pass. */
  async #report(): Promise<void> {
    const { to, report, log } = this.#options
    const newest = this.#newest
    if (report === undefined || newest === undefined || newest === this.#reported) return
    try {
      await report({ path: `${to.shown}/${newest.name}`, step: newest.step })
      this.#reported = newest
    } catch (error) {
      log(`cannot report the checkpoint: ${textOf(error)}`)
    }
  }

  /** Ends early when the pod is terminated. */
  async #pause(ms: number): Promise<void> {
    const { stop } = this.#options
    await (stop.aborted ? sleep(ms) : sleep(ms, stop).catch(() => {}))
  }
}

const NEVER = new AbortController().signal
