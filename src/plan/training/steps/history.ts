/**
 * Keeps the history of a finished job, before its pods are cleaned up and the job expires. The end of the job has recorded
 * that there is one to keep. A history that cannot be written, because its name is taken or a quota is exceeded, is given
 * up, and the status says why: it must not keep the pods.
 */
import { toDelete, toWrite } from '../../../decision/plan.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { recordRejection } from '../../rejection.ts'
import { historyConfigMap, isEarlierHistory } from '../objects/history.ts'
import { needsHistory } from '../observe/history.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import type { Step, TrainingPlan } from './step.ts'

const isMissing = ({ job, observed: { config, history } }: Snapshot): boolean =>
  needsHistory(job, config, history?.existing)

export const keepHistory: Step = (snapshot) => {
  const { job, observed } = snapshot
  const { existing, data } = observed.history ?? {}
  if (!isMissing(snapshot) || data === undefined) return undefined
  const isRetained = observed.config.history.retention === 'Keep'
  if (existing && isEarlierHistory(existing, job))
    return { writes: [], deletions: toDelete('record', [existing]), events: [], requeueAfterMs: 0 }
  const writes = toWrite(isRetained ? 'createRecord' : 'create', [historyConfigMap(job, data)])
  return { writes, deletions: [], events: [], requeueAfterMs: 0 }
}

const MAX_MESSAGE = 1024

/** The plan after the rejection of a history; undefined if another write of the finished job was rejected. */
export function giveUpHistory(snapshot: Snapshot, trouble: Trouble): TrainingPlan | undefined {
  if (!isMissing(snapshot)) return undefined
  const { events } = recordRejection(undefined, trouble)
  const message = `${trouble.reason}: ${trouble.message}`.slice(0, MAX_MESSAGE)
  const { conditions, ...known } = snapshot.job.status ?? {}
  const status = { ...known, ...(conditions && { conditions }), history: { message } }
  return { writes: [], deletions: [], status, events }
}
