/** G7: an operator that cannot converge backs off. Ten times the attempts that any scenario needs, faults included, is a loop. */
const MOST_TRIES = 150

/** The violations in these attempts to write, of a scenario that lasts seconds. */
export function hotLoops(attempts: readonly string[]): string[] {
  const tries = new Map<string, number>()
  for (const attempt of attempts) tries.set(attempt, (tries.get(attempt) ?? 0) + 1)
  return [...tries]
    .filter(([, count]) => count > MOST_TRIES)
    .map(([attempt, count]) => `G7: ${attempt} was tried ${count} times`)
}
