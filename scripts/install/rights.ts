/**
 * The permissions of the operator, with reasons: the only source of its roles, for kustomize and for the chart. `test/rbac`
 * compares them with every call that the tests observed, in both directions.
 */

import { crdName } from '../../src/api/kind.ts'
import { trainingJobKind } from '../../src/api/kinds.ts'
import { gangs } from '../../src/plan/training/index.ts'
import { providers } from '../../src/plan/traffic/index.ts'
import { CHILDREN, evictionRight, modelRights, quotaRights, variantRights } from './shared-rights.ts'

/**
 * The scope of a permission. `watched`: the namespaces that the operator serves, all or some; `own`: the namespace it runs in;
 * `cluster`: cluster-scoped kinds.
 */
export type Place = 'watched' | 'own' | 'cluster'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

export interface Right {
  readonly place: Place
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly Verb[]
  /** Only objects with these names. RBAC cannot restrict `create` by name. */
  readonly names?: readonly string[]
  /** Only for an operator that issues the certificates of its webhook. */
  readonly forWebhook?: true
  /** Only for an operator that authenticates the readers of its metrics. */
  readonly forMetricsAuth?: true
  readonly why: string
}

const ML = 'ml.example.com'
const MLOPS = 'mlops.sathvik.dev'

export const WEBHOOK_SECRET = 'ml-operator-webhook'
export const LEASE = 'ml-operator'

export const rights: readonly Right[] = [
  {
    place: 'watched',
    group: ML,
    resources: ['trainingjobs'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'Read jobs, keep them by a finalizer until their workers are gone, delete them after ttlSecondsAfterFinished, and start the runs of TrainingSchedules.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingjobs/status'],
    verbs: ['patch'],
    why: 'Write the status of jobs.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingjobs/finalizers'],
    verbs: ['update'],
    why: 'Set blockOwnerDeletion where OwnerReferencesPermissionEnforcement is enabled.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingschedules'],
    verbs: ['get', 'list', 'watch'],
    why: 'Read schedules, also directly before runs are deleted.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingschedules/status'],
    verbs: ['patch'],
    why: 'Write the status of schedules.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingschedules/finalizers'],
    verbs: ['update'],
    why: 'Set blockOwnerDeletion where OwnerReferencesPermissionEnforcement is enabled.',
  },
  ...modelRights(ML, ['create', 'patch'], ', and deploy those of TrainingJobs with output.deploy'),
  ...modelRights(MLOPS),
  {
    place: 'watched',
    group: ML,
    resources: ['modelservers'],
    verbs: ['list', 'watch'],
    why: 'Read the runtimes of models.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['pods', 'services', 'configmaps'],
    verbs: CHILDREN,
    why: 'Workers, their DNS names and their configuration. Services of models and the routes of their proxies.',
  },
  {
    place: 'watched',
    group: 'discovery.k8s.io',
    resources: ['endpointslices'],
    verbs: ['list', 'watch'],
    why: 'A model is ready only while its Service has ready endpoints.',
  },
  {
    place: 'watched',
    group: 'apps',
    resources: ['deployments'],
    verbs: CHILDREN,
    why: 'Versions of a model, and the proxies of its traffic provider.',
  },
  {
    place: 'watched',
    group: 'autoscaling',
    resources: ['horizontalpodautoscalers'],
    verbs: CHILDREN,
    why: 'Scale the versions of a model.',
  },
  {
    place: 'watched',
    group: 'policy',
    resources: ['poddisruptionbudgets'],
    verbs: CHILDREN,
    why: 'Limit the pods of a model that are evicted at a time.',
  },
  ...[...providers.all, ...gangs].flatMap(variantRights),
  ...gangs.flatMap(quotaRights),
  {
    place: 'watched',
    group: '',
    resources: ['pods/log'],
    verbs: ['get'],
    why: 'Copy the last log lines of a failed worker into the status.',
  },
  evictionRight,
  {
    place: 'watched',
    group: 'batch',
    resources: ['jobs'],
    verbs: CHILDREN,
    why: 'Workers of jobs with `engine: job`, and validations and analyses of models.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['persistentvolumeclaims'],
    verbs: CHILDREN,
    why: 'Checkpoints, deleted only with `checkpoint.deleteOnCompletion`. Caches of fetched models.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['secrets'],
    verbs: ['create'],
    why: 'SSH keys of MPI jobs. Secrets are never read.',
  },
  {
    place: 'watched',
    group: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    why: 'Emit events; repeated events are counted in a series.',
  },
  {
    place: 'watched',
    group: 'events.k8s.io',
    resources: ['events'],
    verbs: ['list'],
    why: 'Report why a PersistentVolumeClaim of a job stays Pending.',
  },
  {
    place: 'cluster',
    group: '',
    resources: ['nodes'],
    verbs: ['list', 'watch'],
    why: 'Detect nodes that do not respond, and find free GPUs for the pods of models.',
  },
  {
    place: 'cluster',
    group: 'authentication.k8s.io',
    resources: ['tokenreviews'],
    verbs: ['create'],
    why: 'Verify which pod sends a progress report. Nothing is stored.',
  },
  {
    place: 'cluster',
    group: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    verbs: ['get', 'patch'],
    names: [crdName(trainingJobKind)],
    forWebhook: true,
    why: 'Publish the CA of the conversion webhook.',
  },
  {
    place: 'cluster',
    group: 'authentication.k8s.io',
    resources: ['tokenreviews'],
    verbs: ['create'],
    forMetricsAuth: true,
    why: 'Find out who reads /metrics.',
  },
  {
    place: 'cluster',
    group: 'authorization.k8s.io',
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
    forMetricsAuth: true,
    why: 'Find out whether this user may read /metrics.',
  },
  {
    place: 'own',
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update'],
    names: [LEASE],
    why: 'Leader election.',
  },
  {
    place: 'own',
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    why: 'Leader election: create the Lease.',
  },
  {
    place: 'own',
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'update'],
    names: [WEBHOOK_SECRET],
    forWebhook: true,
    why: 'Share the certificates of the webhook between replicas.',
  },
  {
    place: 'own',
    group: '',
    resources: ['secrets'],
    verbs: ['create'],
    forWebhook: true,
    why: 'Create the certificates of the webhook.',
  },
]
