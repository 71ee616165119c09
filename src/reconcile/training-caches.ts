/**
 * The caches of the training controller: of each kind only our own objects, of each object only the fields that are read.
 * Every lookup of gather has an index, so that a pass lists nothing, however many jobs there are.
 */
import { trainingJobs } from '../api/kinds.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { controllerOf, keyString, type KubeObject, type ObjectKey } from '../kube/object.ts'
import { ConfigMap, Job, Node, PersistentVolumeClaim, Pod, Service } from '../kube/resources.ts'
import { claimNames, JOB_UID_LABEL } from '../plan/training/index.ts'
import type { Cache, Caches } from '../runtime/index.ts'
import { QUEUED } from './queued.ts'
import { trimmedPod } from './trimmed-pod.ts'

export interface TrainingCaches {
  readonly jobs: Cache<TrainingJob>
  readonly pods: Cache<Pod>
  readonly workloads: Cache<Job>
  readonly claims: Cache<PersistentVolumeClaim>
  readonly nodes: Cache<Node>
  readonly services: Cache<Service>
  readonly configMaps: Cache<ConfigMap>
}

/** Indexes: jobs by the claims they mount, pods by their node. */
export const CLAIM = 'claim'
export const NODE = 'node'

/** One namespace or several instead of all. */
type Namespaces = string | readonly string[]

const OURS = 'app=trainingjob'

export function trainingCaches(caches: Caches, gpuResource: string, namespace?: Namespaces): TrainingCaches {
  const scope = namespace === undefined ? {} : { namespace }
  return {
    jobs: caches.of(trainingJobs, { ...scope, indexes: { [CLAIM]: claimKeys } }),
    pods: caches.of(Pod, {
      ...scope,
      labelSelector: JOB_UID_LABEL,
      labels: [JOB_UID_LABEL],
      indexes: { [NODE]: ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]) },
      trim: trimmedPod,
    }),
    workloads: caches.of(Job, { ...scope, labelSelector: OURS, exclusive: QUEUED }),
    claims: caches.of(PersistentVolumeClaim, { ...scope, trim: trimmedClaim }),
    nodes: caches.of(Node, { trim: (node) => trimmedNode(node, gpuResource) }),
    services: caches.of(Service, { ...scope, labelSelector: OURS, exclusive: {} }),
    configMaps: caches.of(ConfigMap, { ...scope, labelSelector: OURS, exclusive: {} }),
  }
}

function claimKeys(job: TrainingJob): string[] {
  return claimNames(job).map((name) => claimKey({ ...namespaceOf(job), name }))
}

export const claimKey = keyString

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

/** Readiness and its time, what decides which pods match the node, and its GPUs. Heartbeats change nothing in it. */
function trimmedNode({ apiVersion, kind, metadata, spec, status }: Node, gpuResource: string): Node {
  const { name, uid, resourceVersion, deletionTimestamp, labels } = metadata
  const { unschedulable, taints } = spec ?? {}
  const conditions = status?.conditions
    ?.filter(({ type }) => type === 'Ready')
    .map(({ type, status: is, lastTransitionTime }) => ({ type, status: is, lastTransitionTime }))
  const gpus = status?.allocatable?.[gpuResource]
  const lean = {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, deletionTimestamp, labels },
    ...((unschedulable || taints) && { spec: { unschedulable, taints } }),
    status: { conditions, ...(gpus !== undefined && { allocatable: { [gpuResource]: gpus } }) },
  }
  return lean as Node
}
