/** Named checks behind `/healthz` (restart me) and `/readyz` (send me work). */

/** Undefined when all is well, else what is wrong, in words. */
export type Check = () => string | undefined

export interface HealthReport {
  readonly ok: boolean
  /** One line per check, as `kubectl get --raw '/readyz?verbose'` prints them. */
  readonly lines: readonly string[]
}

export class Health {
  readonly #live = new Map<string, Check>()
  readonly #ready = new Map<string, Check>()

  /** A failing live check asks for a restart: only for what a restart can cure. */
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
