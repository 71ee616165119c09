/**
 * An engine runs a gang. It translates between replicas and Kubernetes objects: which members exist, what creates them, what
 * removes them. The steps decide when, for all engines alike. contract.test.ts runs one suite for all engines.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Plan } from '../../../decision/plan.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Attempt, Replica } from '../observe/attempt.ts'
import type { Member } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'

/** Changes to the objects of an engine. */
export type Changes = Pick<Plan, 'writes' | 'deletions'>

export interface Engine {
  /** Host name of a pod of the gang, below the name of the job's Service. */
  readonly hostname: (job: TrainingJob, role: string, index: number) => string
  /** Members of all attempts, including terminating ones and those that the engine is yet to create. */
  readonly members: (observed: TrainingObserved) => readonly Member[]
  /** Whether anything of any attempt is left. */
  readonly hasPods: (observed: TrainingObserved) => boolean
  /** Whether anything of another attempt is left. Until it is gone, no pod of this attempt may start. */
  readonly hasOtherAttempts: (observed: TrainingObserved, attempt: number) => boolean
  /** Fingerprint of the pod template that `create` uses for this role; the pods have it as annotation. */
  readonly template: (observed: TrainingObserved, attempt: Attempt, role: string) => string
  /** Objects that create these replicas. Existing objects are not changed. */
  readonly create: (observed: TrainingObserved, attempt: Attempt, replicas: readonly Replica[]) => readonly KubeObject[]
  /** Reason of the condition `ResourcesCreated` once the objects of `create` exist. */
  readonly createdReason: string
  /** Changes that remove these members. May need several passes. */
  readonly remove: (observed: TrainingObserved, members: readonly Member[]) => Changes
  /** Changes that end these active members. Pods that have ended stay. */
  readonly stop: (observed: TrainingObserved, active: readonly Member[]) => Changes
}

export const NO_CHANGES: Changes = { writes: [], deletions: [] }
