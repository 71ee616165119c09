/**
 * The caches of the training controller: of each kind only our own objects, of each object only the fields that are read.
 * Every lookup of gather has an index, so that a pass lists nothing, however many jobs there are.
 */
import { trainingJobs } from '../api/kinds.ts'
import type { ModelDeployment } from '../api/modeldeployment.v1.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { controllerOf, keyString, type KubeObject, type ObjectKey } from '../kube/object.ts'
import { ConfigMap, Job, type Node, PersistentVolumeClaim, Pod, Service } from '../kube/resources.ts'
import { awaitsDeployment, gangKindName, gangKinds, JOB_UID_LABEL, watchedClaims } from '../plan/training/index.ts'
import type { Cache, Caches } from '../runtime/index.ts'
import { modelCache } from './model-cache.ts'
import { nodeCache, nodeIndex } from './node-cache.ts'
import { QUEUED } from './queued.ts'
import { trimmedWorker } from './trimmed-pod.ts'

export interface TrainingCaches {
  readonly jobs: Cache<TrainingJob>
  readonly pods: Cache<Pod>
  readonly workloads: Cache<Job>
  readonly claims: Cache<PersistentVolumeClaim>
  readonly nodes: Cache<Node>
  readonly services: Cache<Service>
  readonly configMaps: Cache<ConfigMap>
  readonly models: Cache<ModelDeployment>
  /** One for each kind that a gang scheduler declares. */
  readonly groups: readonly Cache[]
}

/** Indexes: jobs by the claims they mount and by the model that has to get their output. */
export const CLAIM = 'claim'
export const OUTPUT = 'output'

/** One namespace or several instead of all. */
type Namespaces = string | readonly string[]

const OURS = 'app=trainingjob'

export interface TrainingScope {
  readonly namespace?: Namespaces
  /** How often to ask for kinds that the cluster does not serve. */
  readonly discoveryMs?: number
}

export function trainingCaches(caches: Caches, options: TrainingScope = {}): TrainingCaches {
  const { namespace, discoveryMs } = options
  const scope = namespace === undefined ? {} : { namespace }
  const optional = discoveryMs === undefined ? {} : { pollMs: discoveryMs }
  return {
    jobs: caches.of(trainingJobs, { ...scope, indexes: { [CLAIM]: claimKeys, [OUTPUT]: outputKeys } }),
    pods: caches.of(Pod, {
      ...scope,
      labelSelector: JOB_UID_LABEL,
      labels: [JOB_UID_LABEL],
      indexes: nodeIndex,
      trim: trimmedWorker,
    }),
    workloads: caches.of(Job, { ...scope, labelSelector: OURS, exclusive: QUEUED }),
    claims: caches.of(PersistentVolumeClaim, { ...scope, trim: trimmedClaim }),
    nodes: nodeCache(caches),
    services: caches.of(Service, { ...scope, labelSelector: OURS, exclusive: {} }),
    configMaps: caches.of(ConfigMap, { ...scope, labelSelector: OURS, exclusive: {}, trim: withoutHistory }),
    models: modelCache(caches, scope),
    groups: gangKinds.map(({ resource, sharedFields: except }) =>
      caches.of(resource, { ...scope, labelSelector: OURS, exclusive: except ? { except } : {}, optional }),
    ),
  }
}

/** The kinds of gang schedulers that the cluster serves. */
export function servedGangKinds({ groups }: TrainingCaches): ReadonlySet<string> {
  return new Set(groups.filter(({ isServed }) => isServed).map(({ resource }) => gangKindName(resource)))
}

function claimKeys(job: TrainingJob): string[] {
  return watchedClaims(job).map((name) => claimKey({ ...namespaceOf(job), name }))
}

export const claimKey = keyString

function outputKeys(job: TrainingJob): string[] {
  const { name } = job.spec.output?.deploy ?? {}
  return name === undefined || !awaitsDeployment(job) ? [] : [keyString({ ...namespaceOf(job), name })]
}

/** The job that a pod names as its own: its label and its controller have to agree. Gather checks the uid. */
export function jobKeys(pod: Pod): ObjectKey[] {
  const name = pod.metadata.labels?.['trainingjob']
  const controller = controllerOf(pod)
  if (name === undefined || !controller) return []
  const owner = controller.kind === 'Job' ? `${name}-job` : name
  return controller.name === owner ? [{ ...namespaceOf(pod), name }] : []
}

function namespaceOf({ metadata: { namespace } }: KubeObject): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace }
}

/** A history is never read. */
function withoutHistory(configMap: ConfigMap): ConfigMap {
  const { binaryData: _large, ...lean } = configMap
  return lean
}

function trimmedClaim({ apiVersion, kind, metadata, spec, status }: PersistentVolumeClaim): PersistentVolumeClaim {
  const { storageClassName, accessModes, resources } = spec ?? {}
  const lean = {
    apiVersion,
    kind,
    metadata,
    spec: { storageClassName, accessModes, resources },
    status: { phase: status?.phase },
  }
  return lean as PersistentVolumeClaim
}
