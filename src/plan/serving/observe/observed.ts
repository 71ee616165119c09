/**
 * Everything that the plan for a model depends on: gathered by src/reconcile, written by hand in tests.
 *
 * Assumptions
 * - Children are those that the model controls, terminating ones included. Of a pod the planner reads `metadata`,
 *   `spec.nodeName`, requested devices and `status`; a cache may drop the rest.
 * - What the operator itself has written before is visible here.
 */
import type { MlopsModelDeployment } from '../../../api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment } from '../../../api/modeldeployment.v1.ts'
import type { VersionRates } from '../../../api/router-report.ts'
import type { ModelServer } from '../../../api/modelserver.v1.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type {
  ConfigMap,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../../kube/resources.ts'
import type { DeviceNode } from '../../pod/devices.ts'
import type { TrafficObserved } from '../../traffic/index.ts'
import type { Measured } from '../measure/answers.ts'
import type { ServingConfig } from '../config.ts'
import type { PodHealth } from './pod-health.ts'

export type Model = ModelDeployment | MlopsModelDeployment

export interface ServingObserved {
  readonly model: Model
  /** Milliseconds of the epoch. */
  readonly now: number
  /** The ModelServer that the model names, if its namespace has one. Absent: a built-in one. */
  readonly server?: ModelServer
  readonly deployments: readonly Deployment[]
  readonly services: readonly Service[]
  /** Of the model's Service. The planner reads only which endpoints are ready. */
  readonly endpoints: readonly EndpointSlice[]
  readonly autoscalers: readonly HorizontalPodAutoscaler[]
  readonly budgets: readonly PodDisruptionBudget[]
  readonly configMaps: readonly ConfigMap[]
  readonly claims: readonly PersistentVolumeClaim[]
  /** Validations. */
  readonly jobs: readonly Job[]
  /** Pods of the versions, of validations and of proxies. */
  readonly pods: readonly Pod[]
  /** The kinds of providers that the cluster serves, as `kindName` names them. */
  readonly servedKinds: ReadonlySet<string>
  /** Groups of metric APIs that the cluster has. Absent: unknown, or the model has no need of them. */
  readonly metricApis?: ReadonlySet<string>
  readonly traffic: Pick<TrafficObserved, 'routes' | 'proxies' | 'reports'>
  /** Live traffic by version. Absent: nothing new was reported. */
  readonly rates?: ReadonlyMap<string, VersionRates>
  /** What the operator's health checks found, by uid of the pod. Absent or without a pod: nothing yet. */
  readonly health?: ReadonlyMap<string, PodHealth>
  /** Of Prometheus. Absent: none is configured. */
  readonly measured?: Measured
  /** Nodes with devices; gathered only where `deviceDemands` has some. Absent: not known. */
  readonly devices?: readonly DeviceNode[]
  /** Objects under the model's names that an earlier model of the same name left behind. */
  readonly leftovers: readonly KubeObject[]
  readonly config: ServingConfig
}
