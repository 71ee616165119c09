/**
 * The weights that apply now, while versions become ready for those of the spec.
 *
 * The spec's weights apply at once, but only to ready versions. The share of a version that is not ready stays where it is:
 * first with ready versions that get traffic now and are to lose it, then with the ready versions of the spec in the ratio
 * of their weights. A version of weight 0 in the spec never gets traffic that it does not have already.
 */
import { apportion, sum, type Weights, WHOLE } from '../../traffic/index.ts'

export interface Shares {
  /** Of the spec. Versions that are not in it are being retired. */
  readonly wanted: Weights
  readonly ready: ReadonlySet<string>
  /** Of the status. Empty at first. */
  readonly current: Weights
}

/** Whole numbers that sum to 100, for ready versions only. Undefined if no ready version may take traffic. */
export function weightsOf({ wanted, ready, current }: Shares): Weights | undefined {
  const only = (weights: Weights): Weights => new Map([...weights].filter(([version]) => ready.has(version)))
  const given = only(apportion(wanted, WHOLE))
  const present = only(current)
  const excess = new Map(
    [...present].map(([version, weight]) => [version, Math.max(0, weight - (given.get(version) ?? 0))]),
  )
  const open = WHOLE - sum(given)
  const kept = apportion(excess, Math.min(open, sum(excess)))
  const rest = open - sum(kept)
  const takers = sum(given) > 0 ? given : present
  if (rest > 0 && sum(takers) === 0) return undefined
  return plus(plus(given, kept), apportion(takers, rest))
}

function plus(one: Weights, other: Weights): Weights {
  const versions = [...new Set([...one.keys(), ...other.keys()])]
  return new Map(versions.map((version) => [version, (one.get(version) ?? 0) + (other.get(version) ?? 0)]))
}
