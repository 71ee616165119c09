/** The operator process, with failures and blocked callbacks read from its log and metrics. */
import { join } from 'node:path'
import { startOperatorProcess } from '../operator/operator-process.ts'
import { HELD } from './loop-watch.ts'

interface LogLine {
  readonly msg?: string
  readonly cpuMs?: number
  readonly namespace?: string
  readonly name?: string
}

const TAIL = 40
/** Without leader election: a lease that is lost on a busy machine says nothing about the objects. */
const FLAGS = ['--log-level=warn', '--no-leader-elect']

export class WatchedOperator {
  /** CPU time of every callback that took longer than 50 ms. */
  readonly held: number[] = []
  /** Failed reconciles, by key. */
  readonly failures = new Map<string, number>()
  readonly tail: string[] = []
  #rest = ''
  #process: Awaited<ReturnType<typeof startOperatorProcess>> | undefined

  static async start(kubeconfig: string): Promise<WatchedOperator> {
    const operator = new WatchedOperator()
    const imports = [join(import.meta.dirname, 'loop-watch.ts')]
    const onOutput = (chunk: Buffer): void => operator.#read(chunk.toString())
    operator.#process = await startOperatorProcess(kubeconfig, FLAGS, { imports, onOutput })
    operator.held.length = 0
    return operator
  }

  get isRunning(): boolean {
    return this.#process?.isRunning() ?? false
  }

  async stop(): Promise<number | null> {
    return (await this.#process?.stop()) ?? null
  }

  /** How many reconciles have ended. */
  async reconciles(): Promise<number> {
    const text = await (await fetch(`${this.#process?.url}/metrics`)).text()
    const counts = text.matchAll(/^ml_operator_reconcile_duration_seconds_count\{[^}]*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#note(line)
  }

  #note(text: string): void {
    this.tail.push(text)
    if (this.tail.length > TAIL) this.tail.shift()
    const { msg, cpuMs = 0, namespace = '', name = '' } = parsed(text)
    if (msg === HELD) this.held.push(cpuMs)
    if (msg !== 'reconcile failed') return
    const key = `${namespace}/${name}`
    this.failures.set(key, (this.failures.get(key) ?? 0) + 1)
  }
}

function parsed(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return {}
  }
}
