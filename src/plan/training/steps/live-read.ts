/** Whether the caches may lag behind, so that the pods are read from the API server before a gang is restarted. */
import type { TrainingObserved } from '../observe/observed.ts'
import { lostReplicas, snapshotOf } from '../observe/snapshot.ts'
import { isFinished } from '../observe/state.ts'
import { untilRelease } from '../observe/partial-gang.ts'
import { isOutdated } from './revision.ts'

/** A pod seems to be lost, the gang to be outdated, or its nodes are given back. A restart by mistake would lose work. */
export function needsLiveRead(observed: TrainingObserved): boolean {
  const { job } = observed
  if (isFinished(job) || job.status?.state === 'Suspending') return false
  const snapshot = snapshotOf(observed)
  return lostReplicas(snapshot).length > 0 || isOutdated(snapshot) || untilRelease(snapshot) === 0
}
