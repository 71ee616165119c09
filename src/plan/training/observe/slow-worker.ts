/** A worker that is much slower than the others, if several ranks report. It is a hint: the cause may be its node or its data. */
import type { SlowestWorker } from '../../../api/training-status.ts'
import { WORKER } from '../names.ts'
import { gangReports, type RankReport } from './latest-report.ts'
import type { TrainingObserved } from './observed.ts'
import { type Snapshot, snapshotOf } from './snapshot.ts'

/** An order of magnitude. */
const TIMES = 10
const LEAST_RANKS = 3
const LONG_MS = 300_000

export interface SlowRank {
  readonly worker: number
  readonly podName: string
  readonly node?: string
  readonly timesSlower: number
}

/** How fast a rank is; the first that every rank reports. In synchronous training all ranks have the same step. */
const PACES: readonly ((report: RankReport) => number | undefined)[] = [
  ({ progress }) => progress.report.metrics?.['throughput'],
  ({ progress }) => inverse(progress.report.metrics?.['stepTime']),
  ({ progress }) => progress.report.step,
]

const inverse = (value: number | undefined): number | undefined =>
  value === undefined || value <= 0 ? undefined : 1 / value

/** The slowest rank, if it is slow now. */
export function slowRank(observed: TrainingObserved): SlowRank | undefined {
  const isWatched = observed.job.status?.state === 'Running' && (observed.reports ?? []).length >= LEAST_RANKS
  const ranks = isWatched ? gangReports(observed, snapshotOf(observed).gang) : []
  const [slowest, ...others] = paced(ranks.filter(({ member }) => member.role === WORKER))
  const median = others[Math.ceil(others.length / 2) - 1]?.pace ?? 0
  if (!slowest || others.length + 1 < LEAST_RANKS || median <= 0 || slowest.pace * TIMES > median) return undefined
  return slowRankOf(slowest, median)
}

function slowRankOf(slowest: PacedRank, median: number): SlowRank {
  const { index, podName, pod } = slowest.member
  const node = pod?.spec?.nodeName
  const timesSlower = Math.round(median / Math.max(slowest.pace, median / MOST))
  return { worker: index, podName, ...(node !== undefined && { node }), timesSlower }
}

const MOST = 1_000

interface PacedRank extends RankReport {
  readonly pace: number
}

/** The slowest first; none if the ranks report nothing that can be compared. */
function paced(ranks: readonly RankReport[]): PacedRank[] {
  const paceOf = PACES.find((pace) => ranks.every((rank) => pace(rank) !== undefined))
  if (!paceOf) return []
  return ranks.map((rank) => ({ ...rank, pace: paceOf(rank) ?? 0 })).toSorted((one, other) => one.pace - other.pace)
}

/** For the status: recorded when it has lasted, and unchanged while it lasts. */
export function slowestWorker({ job, observed }: Snapshot): SlowestWorker | undefined {
  const slow = slowRank(observed)
  if (!slow || (observed.slowMs ?? 0) < LONG_MS) return undefined
  const { slowestWorker: known } = job.status ?? {}
  return known?.worker === slow.worker && known.podName === slow.podName ? known : slow
}

/** Milliseconds until the slow rank has lasted; undefined without one, or after. */
export function untilSlow({ slowMs }: TrainingObserved): number | undefined {
  return slowMs === undefined || slowMs >= LONG_MS ? undefined : LONG_MS - slowMs
}
