/**
 * One process of the cluster: started, monitored, and stopped, killed, paused or slowed on demand.
 *
 * Each component runs in a process group of its own, so that a Ctrl-C at the terminal reaches the caller only and
 * the cluster is torn down in order. Its output goes to `logs/NAME.log` in the run directory.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { MARK, subdirectory } from './run-directory.ts'

export interface ComponentSpec {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Whether the component is ready. Polled until it is. */
  readonly ready: () => Promise<boolean>
  readonly readyTimeoutMs?: number
}

export interface Slowness {
  readonly pausedMs: number
  readonly runningMs: number
}

/** The default reaction to an unexpected exit. */
export function reportExit(error: Error): void {
  process.stderr.write(`${error.message}\n`)
}

const POLL_MS = 50
const READY_TIMEOUT_MS = 120_000

export class Component {
  readonly name: string
  readonly logFile: string
  readonly #runDirectory: string
  readonly #spec: ComponentSpec
  readonly #onExit: (error: Error) => void
  #child: ChildProcess | undefined
  #expectedToEnd = false

  constructor(runDirectory: string, spec: ComponentSpec, onExit: (error: Error) => void) {
    this.name = spec.name
    this.#spec = spec
    this.#runDirectory = runDirectory
    this.#onExit = onExit
    this.logFile = join(subdirectory(runDirectory, 'logs'), `${spec.name}.log`)
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`${this.name} is not running`)
    return pid
  }

  /** Starts the process and waits until it is ready. */
  async start(): Promise<this> {
    this.spawn()
    await this.ready()
    return this
  }

  /** Starts the process without waiting. */
  spawn(): void {
    if (this.#child !== undefined) throw new Error(`${this.name} is running already`)
    const [program = '', ...args] = this.#spec.command
    const log = openSync(this.logFile, 'a')
    const child = spawn(program, args, {
      cwd: this.#runDirectory,
      env: { PATH: process.env['PATH'], ...this.#spec.env, [MARK]: this.#runDirectory },
      stdio: ['ignore', log, log],
      detached: true,
    })
    closeSync(log)
    child.unref()
    this.#child = child
    this.#expectedToEnd = false
    child.once('error', (error) => this.#ended(child, error.message))
    child.once('exit', (code, signal) => this.#ended(child, `exit ${signal ?? String(code)}`))
  }

  async ready(): Promise<void> {
    const deadline = Date.now() + (this.#spec.readyTimeoutMs ?? READY_TIMEOUT_MS)
    while (!(await this.#spec.ready().catch(() => false))) {
      if (this.#child === undefined) throw new Error(`${this.name} ended before it was ready:\n${this.logTail()}`)
      if (Date.now() > deadline) throw new Error(`${this.name} did not become ready:\n${this.logTail()}`)
      await delay(POLL_MS)
    }
  }

  /** Stops the process with SIGTERM, and with SIGKILL after the grace period. */
  async stop(graceMs = 10_000): Promise<void> {
    await this.#end('SIGTERM', graceMs)
  }

  /** Kills the process with SIGKILL, as a crash. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL', 0)
  }

  /** Pauses the process with SIGSTOP: its sockets stay open, but nothing responds. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** Slows the process by pausing it repeatedly, until the returned function is called. */
  slow({ pausedMs, runningMs }: Slowness): () => Promise<void> {
    const stopped = new AbortController()
    const cycle = async (): Promise<void> => {
      while (!stopped.signal.aborted) {
        this.pause()
        await delay(pausedMs)
        this.resume()
        await delay(runningMs, undefined, { signal: stopped.signal }).catch(() => {})
      }
    }
    const cycling = cycle()
    return async () => {
      stopped.abort()
      await cycling
    }
  }

  logTail(lines = 20): string {
    return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
  }

  async #end(signal: NodeJS.Signals, graceMs: number): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#expectedToEnd = true
    child.ref()
    const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    child.kill(signal)
    if (signal !== 'SIGKILL') {
      await Promise.race([exited, delay(graceMs, undefined, { ref: false })])
      child.kill('SIGKILL')
    }
    await exited
  }

  #ended(child: ChildProcess, how: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    if (this.#expectedToEnd) return
    this.#onExit(new Error(`${this.name} exited unexpectedly (${how}). The end of ${this.logFile}:\n${this.logTail()}`))
  }
}
