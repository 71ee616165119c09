/** What is observed, grouped for decisions: the gang of the current attempt, and the pods of other attempts. */
import { isTrue } from '../../../api/conditions.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Engine } from '../engines/contract.ts'
import { engineOf } from '../engines/registry.ts'
import { canReplaceAlone } from '../frameworks/elasticity.ts'
import { replicasOf } from '../frameworks/roles.ts'
import { podName, WORKER } from '../names.ts'
import { type Attempt, attemptOf, type Replica, replicaKey } from './attempt.ts'
import { type Member, memberOf } from './member.ts'
import type { TrainingObserved } from './observed.ts'

export interface Snapshot {
  readonly observed: TrainingObserved
  readonly job: TrainingJob
  readonly engine: Engine
  readonly attempt: Attempt
  /** All replicas that this attempt should have. */
  readonly replicas: readonly Replica[]
  /** Members of all attempts. */
  readonly all: readonly Member[]
  /** Members of this attempt, including workers whose success is recorded although their pod is gone. */
  readonly gang: readonly Member[]
  /** Members of other attempts. */
  readonly stale: readonly Member[]
  /** Replicas of this attempt that have no member. */
  readonly missing: readonly Replica[]
  /** The pod that works on the checkpoints, if it exists. It is no member of a gang. */
  readonly checkpointing?: Member
}

export function snapshotOf(observed: TrainingObserved): Snapshot {
  const { job } = observed
  const engine = engineOf(job.spec)
  const attempt = attemptOf(job)
  const all = engine.members(observed)
  const present = all.filter((member) => member.attempt === attempt.number)
  const replicas = replicasOf(job, attempt)
  const gang = [...present, ...recordedSuccesses(job, attempt, present)]
  const keys = new Set(gang.map(replicaKey))
  const [checkpointPod] = observed.checkpointPods ?? []
  return {
    observed,
    job,
    engine,
    attempt,
    replicas,
    all,
    gang,
    stale: all.filter((member) => member.attempt !== attempt.number),
    missing: replicas.filter((replica) => !keys.has(replicaKey(replica))),
    ...(checkpointPod && { checkpointing: memberOf(checkpointPod, { role: 'checkpoints', index: 0 }) }),
  }
}

/** With the pod that works on the checkpoints. */
export const everyone = ({ all, checkpointing }: Snapshot): readonly Member[] =>
  checkpointing ? [...all, checkpointing] : all

/** A worker that has succeeded stays so when its pod is deleted. */
function recordedSuccesses(job: TrainingJob, attempt: Attempt, present: readonly Member[]): Member[] {
  const ranks = new Set(present.filter(({ role }) => role === WORKER).map(({ index }) => index))
  const recorded = job.status?.workerStatuses ?? []
  return recorded
    .filter(({ workerId, phase }) => phase === 'Succeeded' && !ranks.has(workerId) && workerId < attempt.worldSize)
    .map(({ workerId, podName: name }) => ({
      role: WORKER,
      index: workerId,
      attempt: attempt.number,
      podName: name ?? podName(job, WORKER, workerId),
      phase: 'Succeeded',
    }))
}

/** Replicas that had a pod when the status was last written and have none now, except those being replaced. */
export function lostReplicas({ job, replicas, missing }: Snapshot): readonly Replica[] {
  const { workers, roles = [], conditions, failedPods } = job.status ?? {}
  const recorded = [workers ?? {}, ...roles].reduce((sum, count) => sum + total(count), 0)
  if (recorded < replicas.length || isTrue(conditions, 'Conflict')) return []
  return failedPods ? missing.filter((replica) => !canReplaceAlone(job.spec, replica)) : missing
}

interface Counts {
  readonly active?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly pending?: number
}

const total = ({ active = 0, succeeded = 0, failed = 0, pending = 0 }: Counts): number =>
  active + succeeded + failed + pending
