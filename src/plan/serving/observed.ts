/**
 * Everything that the planner of a model that is served may depend on: gathered by src/reconcile, written by hand in
 * tests.
 *
 * Assumptions
 * - Children are those labelled with the model's uid (`MODEL_UID_LABEL`), terminating ones included. Of a pod the planner
 *   reads `metadata`, `spec.nodeName` and `status`; a cache may drop the rest.
 * - What the operator itself has written before is visible here.
 */
import type { MlopsModelDeployment } from '../../api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment } from '../../api/modeldeployment.v1.ts'
import type { VersionRates } from '../../api/router-report.ts'
import type { ModelServer } from '../../api/modelserver.v1.ts'
import type {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../kube/resources.ts'
import type { TrafficObserved } from '../traffic/contract.ts'
import type { ServingConfig } from './config.ts'

/** What the cluster offers to divide traffic with: whether the kinds are served. */
export interface Offers {
  readonly istio: boolean
  readonly gateway: boolean
}

export interface ServingObserved {
  readonly model: ModelDeployment | MlopsModelDeployment
  /** Milliseconds of the epoch. */
  readonly now: number
  /** The ModelServer that the model names, if its namespace has one; else a built-in one is meant. */
  readonly server?: ModelServer
  readonly deployments: readonly Deployment[]
  readonly services: readonly Service[]
  readonly autoscalers: readonly HorizontalPodAutoscaler[]
  readonly budgets: readonly PodDisruptionBudget[]
  readonly configMaps: readonly ConfigMap[]
  readonly claims: readonly PersistentVolumeClaim[]
  /** Validations. */
  readonly jobs: readonly Job[]
  /** Pods of the versions, of validations and of the router. */
  readonly pods: readonly Pod[]
  readonly offers: Offers
  readonly traffic: TrafficObserved
  /** Live traffic by version, when there is news of it; what is known stays otherwise. */
  readonly rates?: ReadonlyMap<string, VersionRates>
  readonly config: ServingConfig
}
