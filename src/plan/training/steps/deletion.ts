/** The deletion of a job: its pods first, then what else it owns. Checkpoints stay unless the spec says otherwise. */
import type { KubeObject } from '../../../kube/object.ts'
import type { Plan } from '../../../kube/plan.ts'
import { discardedClaims } from '../objects/claims.ts'
import { forceDeletions } from '../observe/dead-nodes.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { snapshotOf } from '../observe/snapshot.ts'

export interface DeletionPlan extends Plan {
  /** Once this plan is carried out, nothing of the job is left but what is meant to stay. */
  readonly done: boolean
}

export function planDeletion(observed: TrainingObserved): DeletionPlan {
  const { engine, all } = snapshotOf(observed)
  const { force, ...later } = forceDeletions(observed, all)
  const { apply, prune } = engine.remove(observed, all)
  const isEmpty = !engine.hasPods(observed)
  const claims = isEmpty ? discardedClaims(observed.job, observed.claims) : []
  const discard = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const done = isEmpty && discard.length === 0
  return {
    apply,
    prune: done ? [...prune, ...ownedObjects(observed)] : prune,
    ...(force.length > 0 && { force: force.flatMap(({ pod }) => pod ?? []) }),
    ...(discard.length > 0 && { discard }),
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
