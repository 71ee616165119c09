/**
 * Progress from the log of a pod. The number of logs that are followed is limited: where more jobs run, each is read for a
 * while in turn. A connection ends after some bytes and is opened again later at the end of the log, so a flood of lines costs a
 * bounded amount of work.
 */
import { backoffMs, type Clock, type Logger, pause } from '../../runtime/index.ts'
import type { ProgressTarget } from '../../api/training-report.ts'
import { Turns } from '../turns.ts'
import type { Emit, ProgressReader } from './contract.ts'
import { parseLogLine } from './log-line.ts'
import { LogLines } from './log-lines.ts'

export interface LogRequest {
  readonly container: string
  readonly follow: true
  readonly tailLines: number
  readonly limitBytes: number
  readonly signal: AbortSignal
}

export type OpenLog = (pod: ProgressTarget['pod'], request: LogRequest) => AsyncIterable<Uint8Array>

export interface LogSourceOptions {
  readonly open: OpenLog
  readonly clock: Clock
  readonly log: Pick<Logger, 'debug'>
  /** Logs that are followed at the same time. */
  readonly maxLogs: number
  /** Pods that report by themselves do so by then, and their logs are not read. */
  readonly delayMs?: number
  readonly turnMs?: number
  readonly random?: () => number
}

const TAIL_LINES = 100
const LIMIT_BYTES = 256 * 1024
/** Of each chunk only the last lines are parsed: later values replace earlier ones. */
const LINES_PER_CHUNK = 50
const DELAY_MS = 20_000
const TURN_MS = 15_000
const RECONNECT = { baseMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0.5 }

export class LogReader implements ProgressReader {
  readonly source = 'Log'
  readonly #options: Required<LogSourceOptions>
  readonly #turns: Turns

  constructor(options: LogSourceOptions) {
    this.#options = { delayMs: DELAY_MS, turnMs: TURN_MS, random: Math.random, ...options }
    this.#turns = new Turns(options.maxLogs)
  }

  canRead(): boolean {
    return this.#options.maxLogs > 0
  }

  async read(target: ProgressTarget, emit: Emit, signal: AbortSignal): Promise<void> {
    const { clock, delayMs, random } = this.#options
    await pause(clock, delayMs, signal)
    for (let failures = 0; !signal.aborted;) {
      const done = await this.#turns.take(signal)
      if (!done) return
      failures = (await this.#session(target, emit, signal)) ? 0 : failures + 1
      done()
      await pause(clock, backoffMs(RECONNECT, failures, random()), signal)
    }
  }

  /** One connection. False if it failed. */
  async #session({ pod }: ProgressTarget, emit: Emit, signal: AbortSignal): Promise<boolean> {
    const turn = this.#turn(signal)
    const { container } = pod
    const request = {
      container,
      follow: true,
      tailLines: TAIL_LINES,
      limitBytes: LIMIT_BYTES,
      signal: turn.signal,
    } as const
    try {
      const lines = new LogLines()
      for await (const chunk of this.#options.open(pod, request)) {
        if (turn.signal.aborted) break
        for (const report of lines.push(chunk, LINES_PER_CHUNK).flatMap((line) => parseLogLine(line) ?? []))
          emit.report(report)
      }
      return true
    } catch (error) {
      if (!turn.signal.aborted)
        this.#options.log.debug({ err: error, pod: pod.name }, 'cannot read the log of a worker')
      return turn.signal.aborted
    } finally {
      turn.end()
    }
  }

  /** Aborts with the signal, and after the turn if others wait. */
  #turn(signal: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
    const { clock, turnMs } = this.#options
    const turn = new AbortController()
    const check = (): void => {
      if (this.#turns.waiting > 0) turn.abort()
      else cancel = clock.setTimeout(check, turnMs)
    }
    let cancel = clock.setTimeout(check, turnMs)
    return { signal: AbortSignal.any([signal, turn.signal]), end: () => cancel() }
  }
}
