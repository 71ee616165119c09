/** A sample of mutants for every test run: the same for the same seed, of every area, with oracles that need no cluster. */
import { AREAS, areaOf, type Mutant } from './mutant.ts'

export function sampleOf(mutants: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const quick = mutants.filter(({ caughtBy }) => caughtBy.needs === undefined)
  const lanes = AREAS.map((area) =>
    rotated(
      quick.filter((mutant) => areaOf(mutant) === area),
      seed,
    ),
  )
  const rounds = Math.max(0, ...lanes.map(({ length }) => length))
  const inTurns = Array.from({ length: rounds }, (_, round) => lanes.flatMap((lane) => lane[round] ?? [])).flat()
  return inTurns.slice(0, count)
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = items.length === 0 ? 0 : by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
