/** Enumerates fault plans from the writes of a fault-free run. */
import { pick, seeded } from '../../random/seeded.ts'
import { CRASHES, ERRORS, type Fault, type FaultPlan, type Flip, PAUSES } from '../faults/fault.ts'

/** Facts about a scenario that its plans depend on. */
export interface ScenarioFacts {
  /** Plurals of all kinds that it watches. */
  readonly kinds: readonly string[]
}

export type Plans = (writes: readonly string[], facts?: ScenarioFacts) => readonly FaultPlan[]

const each = (writes: readonly string[], modes: readonly Fault['mode'][]): Fault[] =>
  writes.flatMap((_, index) => modes.map((mode) => ({ write: index + 1, mode })))

/** A crash at every write, at every crash point. */
export const crashes: Plans = (writes) => each(writes, CRASHES).map((fault) => ({ faults: [fault] }))

/** Writes between two errors, so that the operator has recovered from one before the next. */
const RECOVERY = 4

/**
 * An object that the server reports as existing exists. To report it once, wrongly, stands for an object that was deleted since. More
 * often, a volume would never be created, and pods of the fake kubelet run without it.
 */
const ONCE = 'exists'

/**
 * Every API error at every write, several in one plan because the operator keeps running. Each plan has all kinds of error, with
 * writes between them that succeed: otherwise all of them were one failure, and its backoff would take minutes. All plans
 * together have every error at every write.
 */
const errorsInARow =
  (times: number): Plans =>
  (writes) => {
    const stride = times + RECOVERY
    return Array.from({ length: stride * ERRORS.length }, (_, plan) => {
      const chosen = writes.flatMap((__, index) => (index % stride === plan % stride ? [index + 1] : []))
      const modeAt = (place: number): (typeof ERRORS)[number] =>
        ERRORS[(place + Math.floor(plan / stride)) % ERRORS.length] as (typeof ERRORS)[number]
      const faultAt = (write: number, place: number): Fault => {
        const mode = modeAt(place)
        return { write, mode, ...(times > 1 && mode !== ONCE && { times }) }
      }
      return { faults: chosen.map(faultAt) }
    }).filter(({ faults }) => faults.length > 0)
  }

export const errors = errorsInARow(1)
/** As many as the client's own retries. */
export const fiveErrors = errorsInARow(5)

/** A crash at every write. The next run first reads a state without its last writes. */
export const staleRestarts: Plans = (writes) =>
  each(writes, ['unanswered']).map((fault) => ({ faults: [fault], lag: 1 + (fault.write % 2) }))

/** Random pairs of crashes, the same for the same seed. The second comes during the recovery from the first, or later. */
export function pairsOfCrashes(count: number, seed: number): Plans {
  return (writes) => {
    const random = seeded(seed)
    const points = each(writes, CRASHES)
    return Array.from({ length: count }, () => {
      const first = pick(random, points)
      const later = points.filter(({ write }) => write > first.write)
      const second = later.length > 0 ? pick(random, later) : { write: first.write + 1, mode: pick(random, CRASHES) }
      return { faults: [first, second] }
    })
  }
}

/** A crash at both writes of every pair. */
export const allPairs: Plans = (writes) =>
  writes.flatMap((_, first) =>
    writes.slice(first + 1).map((__, distance) => {
      const second = first + 1 + distance
      const mode = (write: number): (typeof CRASHES)[number] => CRASHES[write % CRASHES.length] ?? 'unsent'
      return {
        faults: [
          { write: first + 1, mode: mode(first + second) },
          { write: second + 1, mode: mode(distance) },
        ],
      }
    }),
  )

/** Two replicas. The leader pauses before a write and sends it after the new leader has acted, or much later. */
export const pauses: Plans = (writes) => each(writes, PAUSES).map((fault) => ({ faults: [fault], replicas: 2 }))

const LAGS = [1, 2, 3, 5, 8, 13, 21, 34, 50]

/** Each kind delayed by each lag, and frozen at each of its first events. */
export const staleKinds: Plans = (_, { kinds } = { kinds: [] }) =>
  kinds.flatMap((kind) => [
    ...LAGS.map((lag) => ({ faults: [], slow: { kind, lag } })),
    ...Array.from({ length: 12 }, (__, index) => ({ faults: [], slow: { kind, frozenAt: index + 1 } })),
  ])

/** Lists in random order, after a crash that makes the operator list everything. */
export const shuffledLists: Plans = (writes) =>
  quarters(writes).map((write) => ({ faults: [{ write, mode: 'answered' }], shuffle: write }))

/** The clock an hour ahead, an hour behind, and jumping between restarts. */
export const clocks: Plans = (writes) =>
  [1, -1].flatMap((hours) => [
    { faults: [], clock: { hours } },
    ...quarters(writes).map((write) => ({
      faults: [{ write, mode: 'answered' as const }],
      clock: { hours, jumps: true },
    })),
  ])

const DENIED: readonly Flip['denied'][] = ['watch', 'discovery']

/** The kinds of traffic providers disappear at every write. */
export const flips: Plans = (writes) =>
  writes.flatMap((_, index) => DENIED.map((denied) => ({ faults: [], flip: { write: index + 1, denied } })))

/** The namespace is deleted at every write. */
export const namespaceDeletions: Plans = (writes) =>
  writes.map((_, index) => ({ faults: [], namespaceDeletedAt: index + 1 }))

function quarters({ length }: readonly string[]): number[] {
  return [...new Set([1, 2, 3].map((quarter) => Math.ceil((quarter * length) / 4)))].filter((write) => write > 0)
}

/**
 * Selects one plan of each run of `every`, each time the next one within the run. So every element of a repeating pattern is
 * selected, unless `every` + 1 is a multiple of the pattern's length.
 */
export function slice(plans: Plans, { every, from = 0 }: { readonly every: number; readonly from?: number }): Plans {
  return (writes, facts) =>
    plans(writes, facts).filter((_, index) => index % every === (from + Math.floor(index / every)) % every)
}

/** Selects `count` plans, evenly spread. */
export function sampled(plans: Plans, count: number): Plans {
  return (writes, facts) => {
    const all = plans(writes, facts)
    const places = Array.from({ length: count }, (_, index) => Math.floor(((index + 0.5) * all.length) / count))
    return [...new Set(places)].flatMap((place) => all[place] ?? [])
  }
}
