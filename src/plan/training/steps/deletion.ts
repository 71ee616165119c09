/** The deletion of a job: its pods first, then what else it owns. Checkpoints stay unless the spec says otherwise. */
import type { KubeObject } from '../../../kube/object.ts'
import { type Plan, toDelete } from '../../../decision/plan.ts'
import { discardedClaims } from '../objects/claims.ts'
import { forceDeletions } from '../observe/dead-nodes.ts'
import { podsOf } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { snapshotOf } from '../observe/snapshot.ts'

export interface DeletionPlan extends Plan {
  /** After this plan, only objects that outlive the job are left. */
  readonly done: boolean
}

export function planDeletion(observed: TrainingObserved): DeletionPlan {
  const { engine, all } = snapshotOf(observed)
  const { force, ...later } = forceDeletions(observed, all)
  const { writes, deletions } = engine.remove(observed, all)
  const isEmpty = !engine.hasPods(observed)
  const claims = isEmpty ? discardedClaims(observed.job, observed.claims) : []
  const unowned = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const done = isEmpty && unowned.length === 0
  return {
    writes,
    deletions: [
      ...deletions,
      ...toDelete('graceful', done ? ownedObjects(observed) : []),
      ...toDelete('force', podsOf(force)),
      ...toDelete('unowned', unowned),
    ],
    events: [],
    ...later,
    done,
  }
}

/**
 * Deleted here rather than by the garbage collector, so that a job created again under the name finds every name free.
 * An owner reference across namespaces is invalid: such an object is not ours.
 */
function ownedObjects({ job, owned = [] }: TrainingObserved): KubeObject[] {
  return owned.filter(({ metadata }) => metadata.namespace === job.metadata.namespace)
}
