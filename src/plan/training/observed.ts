/**
 * Everything that the planner of a TrainingJob may depend on: gathered by src/reconcile, written by hand in tests.
 *
 * Assumptions
 * - `pods` are all pods labelled with the job's uid (`JOB_UID_LABEL`), terminating ones and those of earlier attempts
 *   included, whoever owns them: those of engine `job` are owned by the Job. Of a pod the planner reads `metadata`,
 *   `spec.nodeName` and `status`; a cache may drop the rest.
 * - What the operator itself has written before is visible here.
 */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Job, PersistentVolumeClaim, Pod } from '../../kube/resources.ts'
import type { TrainingConfig } from './config.ts'

/** What is known about a node that one of the job's pods was given to. */
export interface NodeFacts {
  readonly name: string
  readonly ready: boolean
  /** Since when it has been so: milliseconds of the epoch. */
  readonly since: number
}

/** GPUs of a node that takes pods, and how many of them workers of training jobs hold. */
export interface GpuNode {
  readonly gpus: number
  readonly held: number
}

/** A pair of keys that only this job uses, in the formats of OpenSSH. */
export interface SshKeys {
  readonly privateKey: string
  readonly publicKey: string
}

export interface TrainingObserved {
  readonly job: TrainingJob
  /** Milliseconds of the epoch. */
  readonly now: number
  readonly pods: readonly Pod[]
  /** `{name}-job`, if it is there and controlled by this job. */
  readonly workload?: Job
  /** The claims that the workers mount, as far as they exist: checkpoints, data, volumes. */
  readonly claims: readonly PersistentVolumeClaim[]
  /** The nodes of those pods. A node that is not listed no longer exists. */
  readonly nodes: readonly NodeFacts[]
  /** All nodes with GPUs; gathered only while the scheduler finds no node for some pod of the job. */
  readonly gpuNodes?: readonly GpuNode[]
  /** Last lines of the log, by uid of the pod: read for failed pods that `needsLog` names, where they could be read. */
  readonly logTails: ReadonlyMap<string, string>
  /** Fresh keys, for framework `mpi` only. Used when the job has none yet. */
  readonly sshKeys?: SshKeys
  readonly config: TrainingConfig
}
