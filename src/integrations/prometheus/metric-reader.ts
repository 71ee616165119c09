/**
 * Reads figures of models from Prometheus beside the reconciles: no pass waits for an answer. A pass says what it wants to know and
 * gets the latest answers. If they are old, they are read again, and the model is woken when they are there.
 *
 * Guarantees
 * - All questions of a model are answered together, about the same time, or none of them: then there is a problem instead.
 * - At most `maxRunning` models are read at the same time, in the order in which they asked; each takes at most `timeoutMs`.
 * - Each model is read at most once per `refreshMs`, and once when its interval ends.
 */
import type { ObjectKey } from '../../kube/object.ts'
import type { PrometheusClient } from './prometheus-client.ts'
import { PrometheusError } from './query-answer.ts'

export interface Questions {
  readonly list: readonly { readonly id: string; readonly query: string }[]
  /** Answers to questions with another key are no answers to these. */
  readonly key: string
  /** An answer from before this time is too old once the time is over. */
  readonly dueAt?: number
}

export interface Answers {
  readonly at: number
  readonly values: ReadonlyMap<string, number>
  readonly problem?: string
}

export interface ReadModel {
  readonly key: ObjectKey
  readonly uid: string
}

export interface MetricReaderOptions {
  readonly client: Pick<PrometheusClient, 'query'>
  readonly timeoutMs: number
  readonly refreshMs: number
  readonly maxRunning?: number
}

interface Held {
  readonly key: string
  readonly answers: Answers
}

interface Turn {
  readonly model: ReadModel
  readonly questions: Questions
  readonly now: number
}

const MAX_RUNNING = 4
/** A model that has not asked for this time is forgotten. */
const FORGET_MS = 10 * 60_000

export class MetricReader {
  readonly #options: Required<MetricReaderOptions>
  /** By uid of the model. */
  readonly #held = new Map<string, Held>()
  readonly #waiting = new Map<string, Turn>()
  readonly #running = new Set<string>()
  readonly #stop = new AbortController()
  readonly #wakes: ((key: ObjectKey) => void)[] = []

  constructor(options: MetricReaderOptions) {
    this.#options = { maxRunning: MAX_RUNNING, ...options }
  }

  /** Number of models with answers. */
  get size(): number {
    return this.#held.size
  }

  /** Number of models that are read now, or wait for it. */
  get pending(): number {
    return this.#waiting.size + this.#running.size
  }

  /** Calls `wake` with each model that has new answers. */
  onAnswer(wake: (key: ObjectKey) => void): void {
    this.#wakes.push(wake)
  }

  /** The latest answers, if there are any to these questions. */
  read(model: ReadModel, questions: Questions, now: number): Answers | undefined {
    const held = this.#held.get(model.uid)
    const answers = held?.key === questions.key ? held.answers : undefined
    if (!this.#isFresh(answers, questions, now) && !this.#running.has(model.uid)) {
      this.#waiting.set(model.uid, { model, questions, now })
      this.#start(now)
    }
    return answers
  }

  close(): void {
    this.#stop.abort()
    this.#waiting.clear()
  }

  #isFresh(answers: Answers | undefined, { dueAt = Infinity }: Questions, now: number): boolean {
    if (!answers) return false
    const age = now - answers.at
    return age >= 0 && age < this.#options.refreshMs && (now < dueAt || answers.at >= dueAt)
  }

  #start(now: number): void {
    for (const [uid, { answers }] of this.#held) if (now - answers.at > FORGET_MS) this.#held.delete(uid)
    for (const [uid, turn] of this.#waiting) {
      if (this.#running.size >= this.#options.maxRunning || this.#stop.signal.aborted) return
      this.#waiting.delete(uid)
      this.#running.add(uid)
      void this.#run(turn)
    }
  }

  async #run({ model: { uid, key }, questions, now }: Turn): Promise<void> {
    const answers = await this.#ask(questions, now)
    this.#running.delete(uid)
    if (this.#stop.signal.aborted) return
    this.#held.set(uid, { key: questions.key, answers })
    for (const wake of this.#wakes) wake(key)
    this.#start(now)
  }

  async #ask({ list }: Questions, at: number): Promise<Answers> {
    const end = new AbortController()
    const timer = AbortSignal.timeout(this.#options.timeoutMs)
    const signal = AbortSignal.any([end.signal, timer, this.#stop.signal])
    try {
      const found = await Promise.all(
        list.map(async ({ id, query }) => [id, await this.#options.client.query(query, at, signal)] as const),
      )
      return {
        at,
        values: new Map(found.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const]))),
      }
    } catch (error) {
      end.abort()
      return { at, values: new Map(), problem: problemOf(error, timer.aborted, this.#options.timeoutMs) }
    }
  }
}

function problemOf(error: unknown, isLate: boolean, timeoutMs: number): string {
  if (isLate) return `does not answer within ${timeoutMs} ms (prometheus.timeoutMs)`
  if (error instanceof PrometheusError) return error.message
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return `cannot be reached${typeof code === 'string' ? ` (${code.slice(0, 40)})` : ''}`
}
