/** The checks of `/healthz` (liveness) and `/readyz` (readiness). */

/** Returns undefined if healthy, else a description of the problem. */
export type Check = () => string | undefined

export interface HealthReport {
  readonly ok: boolean
  /** One line per check, as `kubectl get --raw '/readyz?verbose'` prints them. */
  readonly lines: readonly string[]
}

export class Health {
  readonly #live = new Map<string, Check>()
  readonly #ready = new Map<string, Check>()

  /** A failing liveness check leads to a restart: add only checks that a restart can fix. */
  addLiveCheck(name: string, check: Check): void {
    this.#live.set(name, check)
  }

  addReadyCheck(name: string, check: Check): void {
    this.#ready.set(name, check)
  }

  live(): HealthReport {
    return report(this.#live)
  }

  ready(): HealthReport {
    return report(this.#ready)
  }
}

function report(checks: ReadonlyMap<string, Check>): HealthReport {
  const problems = [...checks].map(([name, check]) => [name, outcome(check)] as const)
  return {
    ok: problems.every(([, problem]) => problem === undefined),
    lines: problems.map(([name, problem]) => (problem === undefined ? `[+]${name} ok` : `[-]${name} ${problem}`)),
  }
}

function outcome(check: Check): string | undefined {
  try {
    return check()
  } catch (error) {
    return `check threw: ${String(error)}`
  }
}
