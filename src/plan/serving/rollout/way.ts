/** The way from one split of the traffic to another. */
import { apportion, type Weights, WHOLE } from '../../traffic/index.ts'

/**
 * The split at a share of the way, in percent. Whole numbers that sum to 100. A version that gains traffic gets at least
 * one percent at every step, so that there is something to judge; before the first step nothing has moved.
 */
export function between(from: Weights, to: Weights, share: number): Weights {
  if (share === 0) return from
  const names = [...new Set([...from.keys(), ...to.keys()])]
  const exact = names.map(
    (name) => [name, (from.get(name) ?? 0) * (WHOLE - share) + (to.get(name) ?? 0) * share] as const,
  )
  const split = new Map(apportion(new Map(exact), WHOLE))
  for (const name of gaining(from, to)) {
    if ((split.get(name) ?? 0) > 0) continue
    const [largest = name] = [...split].toSorted(([, one], [, other]) => other - one)[0] ?? []
    split.set(largest, (split.get(largest) ?? 0) - 1)
    split.set(name, 1)
  }
  return new Map([...split].filter(([, weight]) => weight > 0))
}

/** The versions with more traffic than before. */
export const gaining = (before: Weights, after: Weights): string[] =>
  [...after].filter(([name, weight]) => weight > (before.get(name) ?? 0)).map(([name]) => name)

/** The versions with traffic before, and not more of it after. */
export const losing = (before: Weights, after: Weights): string[] =>
  [...before].filter(([name, weight]) => weight > 0 && (after.get(name) ?? 0) <= weight).map(([name]) => name)
