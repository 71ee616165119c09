/** What the pods of the current attempt have reported, as one report. */
import { MAX_METRICS, type PodProgress, type ProgressReport, type ReportSource } from '../../../api/training-report.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import type { Snapshot } from './snapshot.ts'

export interface LatestReport extends Omit<ProgressReport, 'checkpoint' | 'time'> {
  readonly source: ReportSource
  /** In milliseconds since the epoch. */
  readonly receivedAt: number
}

/** What a member has reported. */
export interface RankReport {
  readonly member: Member
  readonly progress: PodProgress
}

/** The reports of these members, the oldest first. */
export function gangReports({ reports = [] }: TrainingObserved, gang: readonly Member[]): RankReport[] {
  const members = new Map(gang.flatMap((member) => (member.pod ? [[member.pod.metadata.uid, member] as const] : [])))
  return reports
    .flatMap((progress) => {
      const member = members.get(progress.podUid)
      return member ? [{ member, progress }] : []
    })
    .toSorted((one, other) => one.progress.receivedAt - other.progress.receivedAt)
}

/** Epoch, step and percentage. */
export function positionOf(report: ProgressReport, job: TrainingJob): (number | undefined)[] {
  return [report.epoch, report.step, withTotals(report, job).percent]
}

/** Decimals of a percentage: enough for a million steps. */
const DECIMALS = 1e6

export const rounded = (percent: number): number => Math.round(percent * DECIMALS) / DECIMALS

/** The progress of the pod that is furthest, and the metrics of all pods. Reports of other attempts are ignored. */
export function latestReport({ observed, job, gang }: Snapshot): LatestReport | undefined {
  const used = gangReports(observed, gang).map(({ progress }) => progress)
  const [first] = used
  if (!first) return undefined
  const { report, source, receivedAt } = used.reduce((lead, next) => further(lead, next, job), first)
  const { checkpoint: _later, time: _ordered, metrics: _merged, ...progress } = report
  return { ...withTotals(progress, job), source, receivedAt, metrics: metricsOf(used) }
}

/** The one with more progress; the later one if they are equal or unknown. */
function further(lead: PodProgress, next: PodProgress, job: TrainingJob): PodProgress {
  const position = ({ report }: PodProgress): number =>
    withTotals(report, job).percent ?? report.step ?? report.epoch ?? -1
  return position(next) >= position(lead) ? next : lead
}

/** Adds the number of epochs of the spec and the percentage where the report omits them. */
function withTotals(report: ProgressReport, { spec }: TrainingJob): ProgressReport {
  const epochs = Number(spec.hyperparameters?.epochs)
  const totalEpochs = report.totalEpochs ?? (epochs >= 1 && report.epoch !== undefined ? epochs : undefined)
  const percent = report.percent ?? share(report.step, report.totalSteps) ?? share(report.epoch, totalEpochs)
  return { ...report, ...(totalEpochs !== undefined && { totalEpochs }), ...(percent !== undefined && { percent }) }
}

function share(part: number | undefined, whole: number | undefined): number | undefined {
  if (part === undefined || whole === undefined || whole <= 0) return undefined
  return Math.min(100, (100 * part) / whole)
}

/** The most recent value of each name. Above the limit, the names that were reported last are omitted. */
function metricsOf(used: readonly PodProgress[]): Record<string, number> {
  const all = new Map<string, number>()
  for (const { report } of used)
    for (const [name, value] of Object.entries(report.metrics ?? {}))
      if (all.has(name) || all.size < MAX_METRICS) all.set(name, value)
  return Object.fromEntries(all)
}
