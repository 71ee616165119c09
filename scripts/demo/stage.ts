import type { Demo } from './demo.ts'

/**
 * One step of the demo.
 *
 * Contract: `isDone` looks at the cluster and not at what an earlier run believed; `run` may be interrupted anywhere and
 * run again, and then goes on with what is there; it waits by `demo.until`, which an interruption ends.
 */
export interface Stage {
  readonly title: string
  isDone(demo: Demo): Promise<boolean>
  run(demo: Demo): Promise<void>
}
