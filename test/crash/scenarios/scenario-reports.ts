/** Progress reports of the pods of all scenarios, which outlive the operators: pods repeat what was not answered. */
import type { PodProgress } from '../../../src/api/training-report.ts'
import type { TrainingReports } from '../../../src/reconcile/training-reports.ts'

const byJob = new Map<string, PodProgress>()

export const scenarioReports: TrainingReports = {
  of: (jobUid) => [byJob.get(jobUid) ?? []].flat(),
  forget: () => undefined,
  problemOf: () => undefined,
  follow: () => undefined,
  onReport: () => undefined,
  onEach: () => undefined,
  reporting: () => undefined,
}

/** A pod of the job has completed a checkpoint, by default now. */
export function reportCheckpoint(jobUid: string, step: number, reportedAt = Date.now()): void {
  const report = { step, checkpoint: { path: `/checkpoints/${step}`, step, reportedAt } }
  byJob.set(jobUid, { podUid: jobUid, source: 'Report', receivedAt: reportedAt, report })
}
