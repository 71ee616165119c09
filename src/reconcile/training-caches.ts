/**
 * What the training controller keeps in memory: of each kind only our own objects, of each object only what is read.
 * Everything that gather asks for is an index, so that a pass costs no list, however many jobs there are.
 */
import { trainingJobs } from '../api/kinds.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { keyString, type KubeObject, type ObjectKey } from '../kube/object.ts'
import { ConfigMap, Job, Node, PersistentVolumeClaim, Pod, Service } from '../kube/resources.ts'
import { claimNames } from '../plan/training/claims.ts'
import { JOB_UID_LABEL } from '../plan/training/names.ts'
import type { Cache, Caches } from '../runtime/index.ts'
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

const OURS = 'app=trainingjob'

export function trainingCaches(caches: Caches, gpuResource: string, namespace?: string): TrainingCaches {
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
    workloads: caches.of(Job, { ...scope, labelSelector: OURS }),
    claims: caches.of(PersistentVolumeClaim, { ...scope, trim: trimmedClaim }),
    nodes: caches.of(Node, { trim: (node) => trimmedNode(node, gpuResource) }),
    services: caches.of(Service, { ...scope, labelSelector: OURS }),
    configMaps: caches.of(ConfigMap, { ...scope, labelSelector: OURS }),
  }
}

function claimKeys(job: TrainingJob): string[] {
  return claimNames(job).map((name) => claimKey({ ...namespaceOf(job), name }))
}

export const claimKey = keyString

/** The job that an object of ours belongs to, by its labels: pods of a Job are not owned by the TrainingJob itself. */
export function jobKeys(object: KubeObject): ObjectKey[] {
  const name = object.metadata.labels?.['trainingjob']
  return name === undefined ? [] : [{ ...namespaceOf(object), name }]
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

/** Whether it answers, since when, whether it is cordoned, and its GPUs. Heartbeats change nothing here. */
function trimmedNode({ apiVersion, kind, metadata, spec, status }: Node, gpuResource: string): Node {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata
  const conditions = status?.conditions
    ?.filter(({ type }) => type === 'Ready')
    .map(({ type, status: is, lastTransitionTime }) => ({ type, status: is, lastTransitionTime }))
  const gpus = status?.allocatable?.[gpuResource]
  const lean = {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, deletionTimestamp },
    ...(spec?.unschedulable && { spec: { unschedulable: true } }),
    status: { conditions, ...(gpus !== undefined && { allocatable: { [gpuResource]: gpus } }) },
  }
  return lean as Node
}
