/**
 * What the operator may do, and why: the only source of its roles, for kustomize and for the chart. A test compares the
 * table with every call that the tests saw the operator make, in both directions.
 */

import { crdName } from '../../src/api/kind.ts'
import { trainingJobKind } from '../../src/api/kinds.ts'

/**
 * Where a right holds. `watched`: in the namespaces that the operator serves, all or one; `own`: in the namespace it
 * runs in; `cluster`: for kinds that have no namespace.
 */
export type Place = 'watched' | 'own' | 'cluster'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

export interface Right {
  readonly place: Place
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly Verb[]
  /** Only objects of these names. The API server cannot restrict `create` so. */
  readonly names?: readonly string[]
  readonly why: string
}

const ML = 'ml.example.com'
const MLOPS = 'mlops.sathvik.dev'

/** Children are applied: `patch`, and `create` when they do not exist. `get` is for a name that turns out to be taken. */
const CHILDREN: readonly Verb[] = ['get', 'list', 'watch', 'create', 'patch', 'delete']

export const WEBHOOK_SECRET = 'ml-operator-webhook'
export const LEASE = 'ml-operator'

export const rights: readonly Right[] = [
  {
    place: 'watched',
    group: ML,
    resources: ['trainingjobs'],
    verbs: ['get', 'list', 'watch', 'patch', 'delete'],
    why: 'Read jobs, hold them by a finalizer until their workers are gone, remove them when their time to live is over.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingjobs/status'],
    verbs: ['patch'],
    why: 'Say how a job fares.',
  },
  {
    place: 'watched',
    group: ML,
    resources: ['trainingjobs/finalizers'],
    verbs: ['update'],
    why: 'Some clusters ask for it of whoever makes an object that its owner waits for.',
  },
  ...[ML, MLOPS].flatMap(modelRights),
  {
    place: 'watched',
    group: ML,
    resources: ['modelservers'],
    verbs: ['list', 'watch'],
    why: 'How to run the server of a model.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['pods', 'services', 'configmaps'],
    verbs: CHILDREN,
    why: 'Workers, their names in DNS, and what they are told. Addresses of models, and the weights of their routers.',
  },
  {
    place: 'watched',
    group: 'apps',
    resources: ['deployments'],
    verbs: CHILDREN,
    why: 'The versions of a model, and its router.',
  },
  {
    place: 'watched',
    group: 'autoscaling',
    resources: ['horizontalpodautoscalers'],
    verbs: CHILDREN,
    why: 'The number of pods of a version follows its load.',
  },
  {
    place: 'watched',
    group: 'policy',
    resources: ['poddisruptionbudgets'],
    verbs: CHILDREN,
    why: 'A node that is drained takes one pod of a model at a time.',
  },
  {
    place: 'watched',
    group: 'networking.istio.io',
    resources: ['virtualservices', 'destinationrules'],
    verbs: CHILDREN,
    why: 'Where there is Istio, it divides the traffic of a model.',
  },
  {
    place: 'watched',
    group: 'gateway.networking.k8s.io',
    resources: ['httproutes'],
    verbs: CHILDREN,
    why: 'Where there is a Gateway, it divides the traffic of a model.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['pods/log'],
    verbs: ['get'],
    why: 'The last lines of a worker that failed, for the status.',
  },
  {
    place: 'watched',
    group: 'batch',
    resources: ['jobs'],
    verbs: CHILDREN,
    why: 'Workers of jobs with `engine: job`, and validations of models.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['persistentvolumeclaims'],
    verbs: CHILDREN,
    why: 'Checkpoints, deleted only with a job whose `checkpoint.deleteOnCompletion` says so. Caches of fetched models.',
  },
  {
    place: 'watched',
    group: '',
    resources: ['secrets'],
    verbs: ['create'],
    why: 'SSH keys of an MPI job. Nobody’s Secret is read.',
  },
  {
    place: 'watched',
    group: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create', 'patch'],
    why: 'What happened to an object, for `kubectl describe`; the same again becomes a count.',
  },
  {
    place: 'cluster',
    group: '',
    resources: ['nodes'],
    verbs: ['list', 'watch'],
    why: 'Whether the node of a worker still answers.',
  },
  {
    place: 'cluster',
    group: 'apiextensions.k8s.io',
    resources: ['customresourcedefinitions'],
    verbs: ['get', 'patch'],
    names: [crdName(trainingJobKind)],
    why: 'Tell the API server which certificate to expect of the conversion webhook.',
  },
  {
    place: 'own',
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'update'],
    names: [LEASE],
    why: 'Of several replicas one acts.',
  },
  { place: 'own', group: 'coordination.k8s.io', resources: ['leases'], verbs: ['create'], why: 'The first election.' },
  {
    place: 'own',
    group: '',
    resources: ['secrets'],
    verbs: ['get', 'update'],
    names: [WEBHOOK_SECRET],
    why: 'The replicas share the certificates of the webhook.',
  },
  { place: 'own', group: '', resources: ['secrets'], verbs: ['create'], why: 'The first certificates.' },
]

/** Both groups' models are served alike. */
function modelRights(group: string): Right[] {
  const of = (part: string, verbs: readonly Verb[], why: string): Right => ({
    place: 'watched',
    group,
    resources: [`modeldeployments${part}`],
    verbs,
    why,
  })
  return [
    of('', ['get', 'list', 'watch'], 'Read models; before something of one is deleted, once more.'),
    of('/status', ['patch'], 'Say how a model fares.'),
    of('/finalizers', ['update'], 'Some clusters ask for it of whoever makes an object that its owner waits for.'),
  ]
}
