/** The deletion of a job: its pods first, then what else it owns. Checkpoints stay unless the spec says otherwise. */
import type { CostStatus } from '../../../api/training-cost.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { type Plan, toDelete } from '../../../decision/plan.ts'
import { earliest } from '../../requeue.ts'
import { discardedClaims } from '../objects/claims.ts'
import { forceDeletions } from '../observe/dead-nodes.ts'
import { podsOf } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { everyone, type Snapshot, snapshotOf } from '../observe/snapshot.ts'
import { costAfter, withCost } from '../report/cost.ts'
import type { PlannedStatus } from '../report/status.ts'
import { removeCheckpoints } from './checkpoint-removal.ts'

export interface DeletionPlan extends Plan<PlannedStatus> {
  /** After this plan, only objects that outlive the job are left. */
  readonly done: boolean
  /** What the job has cost in the end; known when it is done. */
  readonly cost?: CostStatus
}

export interface DeletionOptions {
  /** Nothing can be created any more, because the namespace is being deleted. */
  readonly isHopeless?: boolean
}

export function planDeletion(observed: TrainingObserved, { isHopeless = false }: DeletionOptions = {}): DeletionPlan {
  const snapshot = snapshotOf(observed)
  const { engine, all } = snapshot
  const { force, ...later } = forceDeletions(observed, everyone(snapshot))
  const { writes, deletions } = engine.remove(observed, all)
  const removal = removeCheckpoints(snapshot, isHopeless)
  const isEmpty = removal.isDone
  const claims = isEmpty ? discardedClaims(observed.job, observed.claims) : []
  const unowned = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const done = isEmpty && unowned.length === 0
  const requeueAfterMs = earliest(later.requeueAfterMs, removal.requeueAfterMs)
  return {
    writes: [...writes, ...removal.writes],
    deletions: [
      ...deletions,
      ...removal.deletions,
      ...toDelete('graceful', done ? ownedObjects(observed) : []),
      ...toDelete('force', podsOf(force)),
      ...toDelete('unowned', unowned),
    ],
    events: removal.events,
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    ...(!isEmpty && isTerminatingIn(observed) && { status: withCost(snapshot, waitingStatus(observed)) }),
    done,
    ...(done && finalCost(snapshot)),
  }
}

function finalCost(snapshot: Snapshot): Pick<DeletionPlan, 'cost'> {
  const cost = costAfter(snapshot)
  return cost ? { cost } : {}
}

/** Pods have been told to end and still exist, so the deletion takes time. */
const isTerminatingIn = ({ pods, orphans = [], checkpointPods = [] }: TrainingObserved): boolean =>
  [...pods, ...orphans, ...checkpointPods].some(({ metadata }) => metadata.deletionTimestamp !== undefined)

/** Without a count of pods, which would be written again with each pod that ends. State and result stay. */
function waitingStatus({ job }: TrainingObserved): PlannedStatus {
  const { namespace = 'default', name } = job.metadata
  const pods = `kubectl get pods -n ${namespace} -l trainingjob=${name}`
  return { ...job.status, reason: `Deleting: waiting for the pods of the job to end; see ${pods}` }
}

/**
 * Deleted here rather than by the garbage collector, so that a job created again under the name finds every name free.
 * An owner reference across namespaces is invalid: such an object is not ours.
 */
function ownedObjects({ job, owned = [] }: TrainingObserved): KubeObject[] {
  return owned.filter(({ metadata }) => metadata.namespace === job.metadata.namespace)
}
