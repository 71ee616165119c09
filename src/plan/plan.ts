export type { EventNote, Plan } from '../kube/plan.ts'

/** The earlier of two times to look again. */
export function soonest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? undefined : Math.max(0, Math.min(...known))
}
