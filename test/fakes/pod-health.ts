/** Fake health checks: the test decides which pods are sick. Everything but the request to the pod is real. */
import { HealthChecks } from '../../src/integrations/health-checks.ts'

export class FakeHealth {
  readonly #sick = new Set<string>()
  /** While set, every pod is sick, also those that start later. */
  isEveryPodSick = false
  /** While set, no pod can be reached. */
  isUnreachable = false
  /** Number of checks so far. */
  checks = 0

  /** The pod with this uid fails its checks from now on. */
  fail(uid: string): void {
    this.#sick.add(uid)
  }

  /** The checks of one operator. */
  start(): HealthChecks {
    return new HealthChecks({ clock, check: ({ uid }) => Promise.resolve(this.#check(uid)) })
  }

  #check(uid: string) {
    this.checks += 1
    if (this.isUnreachable) return { outcome: 'unreachable' } as const
    if (!this.isEveryPodSick && !this.#sick.has(uid)) return { outcome: 'passed' } as const
    return { outcome: 'failed', answer: 'answered HTTP 500' } as const
  }
}

/** Its timers do not keep the process running: an operator that was killed does not close its checks. */
const clock = {
  monotonic: () => performance.now(),
  setTimeout: (callback: () => void, ms: number) => {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}
