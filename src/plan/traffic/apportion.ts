/**
 * Splits a whole number in the ratio of the weights, into whole numbers that sum to it: by largest remainder, ties to the
 * first. All zero if no weight is above zero.
 */
export function apportion(weights: ReadonlyMap<string, number>, whole: number): ReadonlyMap<string, number> {
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (all <= 0) return new Map([...weights.keys()].map((name) => [name, 0]))
  const shares = [...weights].map(([name, weight]) => ({ name, exact: (weight * whole) / all }))
  const floors = new Map(shares.map(({ name, exact }) => [name, Math.floor(exact)]))
  const left = whole - [...floors.values()].reduce((sum, share) => sum + share, 0)
  const byRemainder = shares.toSorted((one, other) => fraction(other.exact) - fraction(one.exact))
  for (const { name } of byRemainder.slice(0, left)) floors.set(name, (floors.get(name) ?? 0) + 1)
  return floors
}

const fraction = (value: number): number => value - Math.floor(value)
