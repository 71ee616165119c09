/** The newest checkpoint that pods of the current attempt have reported and that is not recorded yet. */
import type { CheckpointStatus } from '../../../api/training-status.ts'
import { checkpointNameAt } from '../objects/checkpoint-storage.ts'
import type { Snapshot } from './snapshot.ts'

export interface NewCheckpoint {
  readonly location: string
  readonly step?: number | undefined
  /** In milliseconds since the epoch. */
  readonly receivedAt: number
}

/** Locations outside of the storage of the job are ignored: with a bucket, only the agent reports what is uploaded. */
export function reportedCheckpoint({ observed, job, gang }: Snapshot): NewCheckpoint | undefined {
  const { enabled } = job.spec.checkpoint
  if (!enabled || !observed.reports?.length) return undefined
  const uids = new Set(gang.map(({ pod }) => pod?.metadata.uid))
  const reported = observed.reports.flatMap(({ podUid, report: { checkpoint }, receivedAt }): NewCheckpoint[] => {
    if (!checkpoint || !uids.has(podUid) || checkpointNameAt(job.spec, checkpoint.path) === undefined) return []
    return [{ location: checkpoint.path, step: checkpoint.step, receivedAt }]
  })
  const newest = reported.toSorted((one, other) => stepOf(other) - stepOf(one) || other.receivedAt - one.receivedAt)[0]
  return newest && isNewer(newest, job.status?.checkpoint) ? newest : undefined
}

const stepOf = ({ step }: { readonly step?: number | undefined }): number => step ?? -1

/** Without steps, another location is newer. */
function isNewer(reported: NewCheckpoint, known: CheckpointStatus | undefined): boolean {
  if (known?.latest === undefined) return true
  if (reported.location === known.latest) return false
  return reported.step === undefined || known.step === undefined || reported.step > known.step
}
