/**
 * Everything that the training planner may depend on: gathered by src/reconcile, written by hand in tests.
 *
 * Assumptions
 * - `pods` and `orphans` are as `membershipOf` sorts them: terminating pods and those of earlier attempts are included,
 *   pods that the job does not control are not. Of a pod the planner reads `metadata`, `spec.nodeName` and `status`; a
 *   cache may drop the rest.
 * - Earlier writes of the operator are visible.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Job, PersistentVolumeClaim, Pod } from '../../../kube/resources.ts'
import type { TrainingConfig } from '../config.ts'
import type { GeneratedData } from '../objects/generated-secrets.ts'

/** Readiness of a node that has a pod of the job. */
export interface NodeFacts {
  readonly name: string
  readonly ready: boolean
  /** Time of the last change of readiness, in milliseconds since the epoch. */
  readonly since: number
}

/** GPUs of a schedulable node, and how many of them training jobs hold. */
export interface GpuNode {
  readonly gpus: number
  readonly held: number
}

export interface NodeTaint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** What decides whether pods match a node: its labels, and its taints that keep pods away. */
export interface NodePlacement {
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly NodeTaint[]
}

export interface TrainingObserved {
  readonly job: TrainingJob
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly pods: readonly Pod[]
  /** Pods of engine `job` whose Job is gone. */
  readonly orphans?: readonly Pod[]
  /** `{name}-job`, if it exists and this job controls it. */
  readonly workload?: Job
  /** Services and ConfigMaps with the job as owner; gathered only while the job is being deleted. */
  readonly owned?: readonly KubeObject[]
  /** The existing claims that the workers mount: checkpoints, data, volumes. */
  readonly claims: readonly PersistentVolumeClaim[]
  /** Why a claim is Pending, by its name: the latest event of its provisioner. Gathered only for `stuckClaims`. */
  readonly claimEvents?: ReadonlyMap<string, string>
  /** The nodes of those pods. A node that is not listed no longer exists. */
  readonly nodes: readonly NodeFacts[]
  /** All nodes with GPUs; gathered only while a pod of the job is unschedulable. */
  readonly gpuNodes?: readonly GpuNode[]
  /** All nodes; gathered only while a pod of the job is unschedulable. */
  readonly placements?: readonly NodePlacement[]
  /** Last log lines by uid of the pod, for pods that `needsLog` selects and whose log could be read. */
  readonly logTails: ReadonlyMap<string, string>
  /** Fresh data for what `secretsToGenerate` selects. Used only where the Secret does not exist yet. */
  readonly secretData?: GeneratedData
  readonly config: TrainingConfig
}
