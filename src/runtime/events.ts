/**
 * Records Events (events.k8s.io/v1): what has happened to an object, for people who run `kubectl describe`.
 *
 * Guarantees
 * - `record` returns at once and never throws: an event can neither slow down nor fail a reconcile. Events that cannot be
 *   sent are counted and dropped.
 * - A repeated event becomes a series with a count, not a second Event.
 * - Rate limit per object: a burst of `burst` requests, one per `refillMs` on average. Series count also above the limit.
 * - Memory is bounded: a series is forgotten after ten minutes without an event, and the outbox has a limit.
 */
import { createHash } from 'node:crypto'
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import type { EventNote } from '../decision/plan.ts'
import { Event } from '../kube/resources.ts'
import { microTime } from '../kube/time.ts'
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'
import type { RuntimeMetrics } from './metrics.ts'
import { TokenBuckets } from './token-buckets.ts'

export interface Recorder {
  record(regarding: KubeObject, event: EventNote): void
}

export interface EventRecorderOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: RuntimeMetrics
  /** The reporting controller and its instance: the names of the program and of this process. */
  readonly controller: string
  readonly instance: string
  readonly burst?: number
  readonly refillMs?: number
}

interface Series {
  readonly key: string
  readonly first: Event
  count: number
  lastAt: number
  sentCount: number
}

const SERIES_WINDOW_MS = 10 * 60_000
const OUTBOX_LIMIT = 1_000
const NOTE_LIMIT = 1024
const WORD_LIMIT = 128

export class EventRecorder implements Recorder {
  readonly #options: EventRecorderOptions
  readonly #budget: TokenBuckets
  readonly #series = new Map<string, Series>()
  readonly #outbox = new Set<Series>()
  #sending: Promise<void> | undefined
  #sweptAt = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
    const { burst = 20, refillMs = 30_000, clock } = options
    this.#budget = new TokenBuckets({ burst, refillMs, clock })
  }

  record(regarding: KubeObject, event: EventNote): void {
    try {
      this.#sweep()
      const series = this.#count(regarding, event)
      if (series) this.#post(series)
    } catch (error) {
      this.#options.log.error({ err: error }, 'recording an event failed')
    }
  }

  /** Resolves when the outbox is empty: all events were sent or dropped. */
  async flush(): Promise<void> {
    await this.#sending
  }

  /** Counts the event. Returns its series if the rate limit allows to send it now. */
  #count(regarding: KubeObject, event: EventNote): Series | undefined {
    const key = seriesKey(regarding, event)
    const known = this.#series.get(key)
    const affordable = this.#budget.take(regarding.metadata.uid ?? '')
    if (!affordable && !known) {
      this.#options.metrics.eventDropped('rate')
      return undefined
    }
    const series = known ?? { key, first: this.#firstEvent(regarding, event, key), count: 0, lastAt: 0, sentCount: 0 }
    series.count += 1
    series.lastAt = this.#options.clock.now()
    this.#series.set(key, series)
    return affordable ? series : undefined
  }

  #post(series: Series): void {
    if (this.#outbox.size >= OUTBOX_LIMIT) return this.#options.metrics.eventDropped('overflow')
    this.#outbox.add(series)
    this.#sending ??= this.#drain().finally(() => (this.#sending = undefined))
  }

  async #drain(): Promise<void> {
    for (const series of this.#outbox) {
      this.#outbox.delete(series)
      await this.#send(series)
    }
  }

  async #send(series: Series): Promise<void> {
    const { count } = series
    try {
      if (series.sentCount === 0) await this.#create(series)
      if (count > 1) await this.#patch(series, count)
      series.sentCount = count
    } catch (error) {
      if (isNotFound(error)) this.#series.delete(series.key)
      this.#options.metrics.eventDropped('refused')
      this.#options.log.debug({ err: error, reason: series.first.reason }, 'sending an event failed')
    }
  }

  async #create({ first }: Series): Promise<void> {
    await this.#options.client.create(Event, first)
  }

  async #patch({ first, lastAt }: Series, count: number): Promise<void> {
    const series = { count, lastObservedTime: microTime(new Date(lastAt)) }
    const { name, namespace = '' } = first.metadata
    await this.#options.client.patch(Event, { namespace, name }, { series })
  }

  #firstEvent(regarding: KubeObject, { type, reason, action = reason, note }: EventNote, key: string): Event {
    const { clock, controller, instance } = this.#options
    const { name, namespace = 'default', uid } = regarding.metadata
    const now = new Date(clock.now())
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: eventName(name, `${key}${now.getTime()}`), namespace },
      eventTime: microTime(now),
      reportingController: controller,
      reportingInstance: instance.slice(0, WORD_LIMIT),
      regarding: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        ...(regarding.metadata.namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
      },
      type,
      reason: reason.slice(0, WORD_LIMIT),
      action: action.slice(0, WORD_LIMIT),
      note: shorten(note),
    }
  }

  #sweep(): void {
    const now = this.#options.clock.now()
    if (now - this.#sweptAt < SERIES_WINDOW_MS / 10) return
    this.#sweptAt = now
    for (const [key, { lastAt }] of this.#series) if (now - lastAt > SERIES_WINDOW_MS) this.#series.delete(key)
  }
}

function seriesKey({ metadata, kind }: KubeObject, { type, reason, action, note }: EventNote): string {
  return JSON.stringify([metadata.uid ?? [kind, metadata.namespace, metadata.name], type, reason, action, note])
}

function eventName(name: string, seed: string): string {
  return `${name.slice(0, 230)}.${createHash('sha256').update(seed).digest('hex').slice(0, 16)}`
}

/** The limit of the server is in bytes, not in characters. */
function shorten(note: string): string {
  if (Buffer.byteLength(note) <= NOTE_LIMIT) return note
  const cut = Buffer.from(note)
    .subarray(0, NOTE_LIMIT - 6)
    .toString()
  return `${cut.replace(/\uFFFD+$/, '')}…`
}
