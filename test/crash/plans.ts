/** Which faults to try, given the writes of a run without any. */
import { DEATHS, ERRORS, type Fault, type FaultPlan } from './fault.ts'

export type Plans = (writes: readonly string[]) => readonly FaultPlan[]

const each = (writes: readonly string[], modes: readonly Fault['mode'][]): Fault[] =>
  writes.flatMap((_, index) => modes.map((mode) => ({ write: index + 1, mode })))

/** A death at every write, in every way. */
export const deaths: Plans = (writes) => each(writes, DEATHS).map((fault) => ({ faults: [fault] }))

/** Far enough apart that what one error led to is over when the next one comes. */
const STRIDE = 5

/** An error of the server at every write, of every kind, once; several in one plan, since the program lives on. */
export const errors: Plans = (writes) =>
  ERRORS.flatMap((mode) =>
    Array.from({ length: Math.min(STRIDE, writes.length) }, (_, offset) => ({
      faults: each(writes, [mode]).filter(({ write }) => write % STRIDE === offset),
    })),
  )

/** A death at every write, after which the program at first does not see what it wrote last. */
export const staleRestarts: Plans = (writes) =>
  each(writes, ['unanswered']).map((fault) => ({ faults: [fault], lag: 1 + (fault.write % 2) }))

/** So many pairs of deaths, chosen at random, the same ones for the same seed: the second comes while the first is being made good, or later. */
export function pairsOfDeaths(count: number, seed: number): Plans {
  return (writes) => {
    const random = seeded(seed)
    const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T
    const points = each(writes, DEATHS)
    return Array.from({ length: count }, () => {
      const first = pick(points)
      const later = points.filter(({ write }) => write > first.write)
      const second = later.length > 0 ? pick(later) : { write: first.write + 1, mode: pick(DEATHS) }
      return { faults: [first, second] }
    })
  }
}

/**
 * One of so many in a row, and each time the next one of them: whatever repeats in the list, all of it has its turn, as long
 * as one more than `every` is no multiple of what it repeats after.
 */
export function slice(plans: Plans, { every, from = 0 }: { readonly every: number; readonly from?: number }): Plans {
  return (writes) => plans(writes).filter((_, index) => index % every === (from + Math.floor(index / every)) % every)
}

/** Numbers that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
