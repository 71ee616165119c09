import type { Demo } from './demo.ts'

/**
 * One step of the demo.
 *
 * Contract: `isDone` checks the cluster, not a record of an earlier run. `run` can be interrupted anywhere and run again; it then
 * continues from the present state. It waits with `demo.until`, which an interruption ends.
 */
export interface Stage {
  readonly title: string
  isDone(demo: Demo): Promise<boolean>
  run(demo: Demo): Promise<void>
}
