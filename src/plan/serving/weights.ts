/**
 * Who gets how much of the traffic now, on the way to what the spec says.
 *
 * The spec's weights count at once, but only for versions that are ready. The share of one that is not stays with those who
 * have it: first with ready versions that carry traffic now and are to lose it, then with the ready versions of the spec in
 * the ratio of their weights. A version that the spec gives nothing is never sent traffic that it does not have already.
 */
import { apportion } from '../traffic/apportion.ts'

export type Weights = ReadonlyMap<string, number>

export interface Shares {
  /** By the spec. Versions that are not in it are leaving. */
  readonly wanted: Weights
  readonly ready: ReadonlySet<string>
  /** What each version was given last; empty at first. */
  readonly current: Weights
}

const WHOLE = 100

/** Percent by version, whole numbers that sum to 100; only ready versions are in it. Nothing if nobody can take it. */
export function weightsOf({ wanted, ready, current }: Shares): Weights | undefined {
  const only = (weights: Weights): Weights => new Map([...weights].filter(([version]) => ready.has(version)))
  const given = only(apportion(wanted, WHOLE))
  const carried = only(current)
  const excess = new Map(
    [...carried].map(([version, weight]) => [version, Math.max(0, weight - (given.get(version) ?? 0))]),
  )
  const open = WHOLE - sum(given)
  const kept = apportion(excess, Math.min(open, sum(excess)))
  const rest = open - sum(kept)
  const takers = sum(given) > 0 ? given : carried
  if (rest > 0 && sum(takers) === 0) return undefined
  return plus(plus(given, kept), apportion(takers, rest))
}

export const sum = (weights: Weights): number => [...weights.values()].reduce((total, weight) => total + weight, 0)

function plus(one: Weights, other: Weights): Weights {
  const versions = [...new Set([...one.keys(), ...other.keys()])]
  return new Map(versions.map((version) => [version, (one.get(version) ?? 0) + (other.get(version) ?? 0)]))
}

/** The one version that gets everything, if there is one. */
export function soleOf(weights: Weights): string | undefined {
  return [...weights].find(([, weight]) => weight === WHOLE)?.[0]
}

/** Who gets nothing and who is not there are the same. */
export function isSameDivision(one: Weights, other: Weights): boolean {
  const versions = [...new Set([...one.keys(), ...other.keys()])]
  return versions.every((version) => (one.get(version) ?? 0) === (other.get(version) ?? 0))
}
