/**
 * Ends Envoy without losing a request. Asked for by a file that the hook of the terminating pod creates: responses then
 * close the connections of clients; once no Service sends requests here, Envoy stops to listen, and exits after its last
 * request.
 */
import { rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { AskEnvoy } from './admin.ts'
import { parseActive, SHOW_STATISTICS } from './statistics.ts'

export interface LeavingDeps {
  readonly ask: AskEnvoy
  readonly file: string
  readonly log: (message: string) => void
  /** Until no Service sends requests here. */
  readonly leaveMs?: number
  /** For the last request at most. */
  readonly finishMs?: number
}

const LEAVE_MS = 5_000
const FINISH_MS = 45_000
const STEP_MS = 100

export class Leaving {
  readonly #deps: LeavingDeps
  #isLeaving = false

  constructor(deps: LeavingDeps) {
    this.#deps = deps
  }

  /** Begins once the file exists. Never throws, and does not wait for the end. */
  async check(): Promise<void> {
    if (this.#isLeaving || !(await isPresent(this.#deps.file))) return
    this.#isLeaving = true
    // A later Envoy of this pod has to be asked again.
    void this.#leave()
      .catch((error: unknown) => this.#deps.log(String(error)))
      .finally(() => (this.#isLeaving = false))
  }

  async #leave(): Promise<void> {
    const { ask, file, log, leaveMs = LEAVE_MS, finishMs = FINISH_MS } = this.#deps
    await rm(file, { force: true })
    log('the pod terminates: Envoy finishes its requests')
    await ask('POST', '/healthcheck/fail')
    await delay(leaveMs)
    await ask('POST', '/drain_listeners')
    const until = performance.now() + finishMs
    while (parseActive(await ask('GET', SHOW_STATISTICS)) > 0 && performance.now() < until) await delay(STEP_MS)
    await ask('POST', '/quitquitquit')
  }
}

async function isPresent(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
