/** Percent of the traffic by version. A version that is absent gets nothing. */
export type Weights = ReadonlyMap<string, number>

export const WHOLE = 100

export const sum = (weights: Weights): number => [...weights.values()].reduce((total, weight) => total + weight, 0)

/** The one version that gets everything, if there is one. */
export function soleOf(weights: Weights): string | undefined {
  return [...weights].find(([, weight]) => weight === WHOLE)?.[0]
}

/** The versions that get traffic. */
export const toNames = (weights: Weights): string[] =>
  [...weights].filter(([, weight]) => weight > 0).map(([name]) => name)

/** A version of weight 0 and one that is absent are the same. */
export function isSameSplit(one: Weights, other: Weights): boolean {
  const versions = [...new Set([...one.keys(), ...other.keys()])]
  return versions.every((version) => (one.get(version) ?? 0) === (other.get(version) ?? 0))
}
