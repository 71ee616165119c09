/**
 * What a backup keeps of an object, and what is created from it: name, labels, annotations, spec and status. Nothing that
 * belongs to a cluster, such as uids, finalizers and managed fields. An owner is kept by its name, because it has another uid
 * after it was restored.
 */
import { mlopsModelDeployments, modelDeployments, modelServers, trainingJobs, trainingSchedules } from './api/kinds.ts'
import { PAUSED_ANNOTATION } from './api/paused.ts'
import { controllerOf, type KubeObject, type Resource } from './kube/object.ts'

/** In the order in which they are restored: what others name or own comes first. */
export const savedKinds: readonly Resource[] = [
  modelServers,
  trainingSchedules,
  trainingJobs,
  modelDeployments,
  mlopsModelDeployments,
]

/** The owner of a saved object, which has the kind and namespace that its kind implies. */
const OWNER_ANNOTATION = 'ml.example.com/restore-owner'
/** Value of the annotation `paused` while an object is being restored. */
export const RESTORING = 'restore'

export interface Stored extends KubeObject {
  readonly spec?: unknown
  readonly status?: unknown
}

export function savedOf(object: KubeObject): Stored {
  const { apiVersion, kind, metadata, spec, status } = object as Stored
  const { name, namespace, labels, annotations } = metadata
  const owner = controllerOf(object)?.name
  const kept = { ...annotations, ...(owner !== undefined && { [OWNER_ANNOTATION]: owner }) }
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(Object.keys(kept).length > 0 && { annotations: kept }),
    },
    ...(spec !== undefined && { spec }),
    ...(status !== undefined && { status }),
  }
}

/** The kind of a saved object; undefined if backups do not have it. */
export const savedKindOf = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource | undefined =>
  savedKinds.find((known) => known.kind === kind && `${known.group}/${known.version}` === apiVersion)

/** The name of the schedule that controlled a saved TrainingJob. */
export const ownerNameOf = (saved: KubeObject): string | undefined => saved.metadata.annotations?.[OWNER_ANNOTATION]

/** The status to restore, for an object whose generations are counted from the beginning. */
export function statusFor(saved: KubeObject, { metadata: { generation } }: KubeObject): unknown {
  const status = withoutHeld((saved as Stored).status)
  const counted = (value: unknown): unknown =>
    isRecord(value) && 'observedGeneration' in value ? { ...value, observedGeneration: generation } : value
  if (!isRecord(status) || !Array.isArray(status['conditions'])) return counted(status)
  return { ...(counted(status) as object), conditions: status['conditions'].map(counted) }
}

/** The pods that held resources at the time of the backup are not restored, so their cost ends there. */
function withoutHeld(status: unknown): unknown {
  if (!isRecord(status) || !isRecord(status['cost'])) return status
  const { held: _before, ...cost } = status['cost']
  return { ...status, cost }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object to create: paused, so that the operator does not act before its status is restored. */
export function pausedCopy(saved: KubeObject, owner: KubeObject | undefined): Stored {
  const annotations = Object.entries(saved.metadata.annotations ?? {}).filter(([name]) => name !== OWNER_ANNOTATION)
  const metadata = {
    ...saved.metadata,
    annotations: { ...Object.fromEntries(annotations), [PAUSED_ANNOTATION]: RESTORING },
    ...(owner && { ownerReferences: [referenceTo(owner)] }),
  }
  const { apiVersion, kind, spec } = saved as Stored
  return { apiVersion, kind, metadata, ...(spec !== undefined && { spec }) }
}

/** The value of the annotation after the restore: that of the backup, or none. */
export const pausedBefore = (saved: KubeObject): string | null =>
  saved.metadata.annotations?.[PAUSED_ANNOTATION] ?? null

const referenceTo = ({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
})
