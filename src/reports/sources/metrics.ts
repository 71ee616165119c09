/**
 * Progress from a page of metrics that the training code serves, at a port and path of its own pod. Only the address of the
 * pod is used. Redirects are not followed, and the page is limited in size and time.
 */
import type { ProgressTarget } from '../../api/training-report.ts'
import { readPage } from '../../net/page.ts'
import { type Clock, pause, spread } from '../../runtime/index.ts'
import { Turns } from '../turns.ts'
import type { Emit, ProgressReader } from './contract.ts'
import { parseMetricsPage } from './metrics-page.ts'

export interface MetricsSourceOptions {
  readonly clock: Clock
  readonly intervalMs?: number
  readonly timeoutMs?: number
  readonly maxRunning?: number
  readonly random?: () => number
}

const INTERVAL_MS = 12_000
const JITTER = 0.2
const TIMEOUT_MS = 3_000
const MAX_BYTES = 1024 * 1024
/** A page that fails once may be that of a process that restarts. */
const TOLERATED = 2

export class MetricsReader implements ProgressReader {
  readonly source = 'Metrics'
  readonly #options: Required<MetricsSourceOptions>
  readonly #turns: Turns

  constructor(options: MetricsSourceOptions) {
    const defaults = { intervalMs: INTERVAL_MS, timeoutMs: TIMEOUT_MS, maxRunning: 16, random: Math.random }
    this.#options = { ...defaults, ...options }
    this.#turns = new Turns(this.#options.maxRunning)
  }

  canRead({ metrics }: ProgressTarget): boolean {
    return metrics !== undefined
  }

  async read(target: ProgressTarget, emit: Emit, signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, random } = this.#options
    for (let failures = 0; !signal.aborted;) {
      const reason = await this.#scrape(target, emit, signal)
      failures = reason === undefined ? 0 : failures + 1
      if (!signal.aborted && (failures === 0 || failures > TOLERATED)) emit.problem(reason)
      await pause(clock, spread(intervalMs, JITTER, random()), signal)
    }
  }

  /** Returns why it failed. */
  async #scrape({ pod, metrics }: ProgressTarget, emit: Emit, signal: AbortSignal): Promise<string | undefined> {
    const done = await this.#turns.take(signal)
    if (!done) return undefined
    const { port, path } = metrics ?? { port: 0, path: '/' }
    try {
      if (pod.ip === undefined) throw new Error('the pod has no address')
      if (pod.isHostNetwork) throw new Error('the pod uses the network of its node: remove hostNetwork')
      const limits = { maxBytes: MAX_BYTES, timeoutMs: this.#options.timeoutMs, signal }
      const report = parseMetricsPage(await readPage({ ip: pod.ip, port, path }, limits))
      if (!signal.aborted) emit.report(report)
      return undefined
    } catch (error) {
      return `spec.progress.metrics: cannot read port ${port}, path ${path} of pod ${pod.name}: ${reasonOf(error)}`
    } finally {
      done()
    }
  }
}

/** Without ports and addresses that differ each time. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : (message ?? 'unknown').slice(0, 200)
}
