/** The earliest of several times to reconcile again, in milliseconds from now; undefined if there is none. */
export function earliest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? undefined : Math.max(0, Math.min(...known))
}
