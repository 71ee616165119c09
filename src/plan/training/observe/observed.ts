/**
 * Everything that the training planner may depend on: gathered by src/reconcile, written by hand in tests.
 *
 * Assumptions
 * - `pods` and `orphans` are as `membershipOf` sorts them: terminating pods and those of earlier attempts are included,
 *   pods that the job does not control are not. Of a pod the planner reads `metadata`, the node and the
 *   resources in `spec`, and `status`; a cache may drop the rest.
 * - Earlier writes of the operator are visible.
 */
import type { ModelDeployment } from '../../../api/modeldeployment.v1.ts'
import type { PodProgress } from '../../../api/training-report.ts'
import type { TrackingProgress } from '../../../api/training-tracking.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { ConfigMap, Job, PersistentVolumeClaim, Pod } from '../../../kube/resources.ts'
import type { TrainingConfig } from '../config.ts'
import type { Found } from '../gangs/quota.ts'
import type { GeneratedData } from '../objects/generated-secrets.ts'
import type { NodePlacement } from '../../pod/node-fit.ts'

/** Readiness and labels of a node that has a pod of the job. */
export interface NodeFacts {
  readonly name: string
  readonly ready: boolean
  /** Time of the last change of readiness, in milliseconds since the epoch. */
  readonly since: number
  readonly labels?: Readonly<Record<string, string>>
}

/** GPUs of a schedulable node, and how many of them training jobs hold. */
export interface GpuNode {
  readonly gpus: number
  readonly held: number
}

/** The operator's server for progress reports. */
export interface Reporting {
  /** Without a path, such as `https://ml-operator-webhook.ml-operator-system.svc:9444`. */
  readonly url: string
  /** The certificates to trust, PEM. */
  readonly ca: string
}

/** Durations by a clock that does not jump. */
export interface Stillness {
  /** Since the last progress, as far as it is recorded or was observed. */
  readonly unchangedMs: number
  /** The part of it in which this process has observed the job. */
  readonly watchedMs: number
}

export interface TrainingObserved {
  readonly job: TrainingJob
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly pods: readonly Pod[]
  /** Pods of engine `job` whose Job is gone. */
  readonly orphans?: readonly Pod[]
  /** `{name}-checkpoints`, if it exists and this job controls it: at most one pod. It is none of `pods`. */
  readonly checkpointPods?: readonly Pod[]
  /** The job that `checkpoint.resumeFrom` names, if it exists. */
  readonly resumedJob?: TrainingJob
  /** `{name}-job`, if it exists and this job controls it. */
  readonly workload?: Job
  /** PodGroups and Workloads that this job controls. */
  readonly groups?: readonly KubeObject[]
  /** The kinds of gang schedulers that the cluster serves, by `gangKindName`. Absent: none. */
  readonly servedKinds?: ReadonlySet<string>
  /** Those of `quotaReferences` that exist. */
  readonly found?: Found
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
  /** What pods of the job have reported since this operator leads. */
  readonly reports?: readonly PodProgress[]
  /** Why the progress cannot be read, although `spec.progress` says where it is. */
  readonly progressProblem?: string
  /** How long the job is without progress; only where `progressMark` returns a mark. */
  readonly stillness?: Stillness
  /** Average utilization of the GPUs of a pod in percent, by name, where it is known. */
  readonly gpuUtilization?: ReadonlyMap<string, number>
  /** For how long the rank of `slowRank` is slow, by a clock that does not jump. */
  readonly slowMs?: number
  /** How pods report their progress. Absent if they cannot: new pods are then not configured for it. */
  readonly reporting?: Reporting
  /** The ModelDeployment of `spec.output.deploy`, if it exists; gathered only for a job that `awaitsDeployment`. */
  readonly model?: ModelDeployment
  /** What MLflow has of the job. Absent if the operator has no MLflow server. */
  readonly tracked?: TrackingProgress
  /** Fresh data for what `secretsToGenerate` selects. Used only where the Secret does not exist yet. */
  readonly secretData?: GeneratedData
  /** Gathered only for a finished job, if histories are enabled. */
  readonly history?: {
    /** The ConfigMap with the name of the history. */
    readonly existing?: ConfigMap
    /** The history, compressed, in base64. Gathered only where `needsHistory` is true. */
    readonly data?: string
  }
  readonly config: TrainingConfig
}
