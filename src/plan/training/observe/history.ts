/** Whether the history of a finished job is still to be written, and which logs it needs. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { ConfigMap } from '../../../kube/resources.ts'
import type { TrainingConfig } from '../config.ts'
import { WORKER } from '../names.ts'
import { isHistoryOf } from '../objects/history.ts'
import { needsLog } from './failure.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import { snapshotOf } from './snapshot.ts'
import { isFinished } from './state.ts'

/** `existing`: the ConfigMap with the name of the history. */
export function needsHistory(job: TrainingJob, { history }: TrainingConfig, existing: ConfigMap | undefined): boolean {
  if (!history.enabled || !isFinished(job) || job.status?.history?.configMapName === undefined) return false
  return existing === undefined || !isHistoryOf(existing, job)
}

/** Pods of the last attempt whose logs belong to the history of a finished job: rank 0, and those that failed. */
export function historyMembers(observed: TrainingObserved): Member[] {
  const isFirst = ({ role, index }: Member): boolean => role === WORKER && index === 0
  const wanted = snapshotOf(observed).gang.filter((member) => isFirst(member) || member.phase === 'Failed')
  return wanted.toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)))
}

/** Pods whose last log lines explain a failure that is not recorded yet. */
export const unexplainedMembers = (observed: TrainingObserved): Member[] =>
  snapshotOf(observed).all.filter(({ pod }) => pod !== undefined && needsLog(observed.job, pod))
