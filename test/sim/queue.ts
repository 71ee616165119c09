/** Plays Kueue: grants quota to Workloads and takes it back. */
import type { KubeObject } from '../../src/kube/object.ts'
import { timestamp } from '../../src/plan/time.ts'
import {
  type Condition,
  ResourceFlavor,
  Workload,
  type WorkloadStatus,
} from '../../src/plan/training/gangs/kueue/kinds.ts'

export const FLAVOR = 'a100'

/** What a flavor adds to the pods. */
export const NODE_LABELS = { pool: 'a100' }
export const TOLERATION = { key: 'a100', operator: 'Exists' } as const

export const QUEUE_OBJECTS: ReadonlyMap<string, KubeObject> = new Map([
  [
    `${ResourceFlavor.kind}/${FLAVOR}`,
    {
      apiVersion: 'kueue.x-k8s.io/v1beta2',
      kind: ResourceFlavor.kind,
      metadata: { name: FLAVOR },
      spec: { nodeLabels: NODE_LABELS, tolerations: [TOLERATION] },
    },
  ],
])

export const isWorkload = (object: KubeObject): object is Workload =>
  object.kind === Workload.kind && object.apiVersion.startsWith(`${Workload.group}/`)

const conditionOf = ({ status }: Workload, type: string): Condition | undefined =>
  status?.conditions?.find((one) => one.type === type)

export const holds = (workload: Workload, type: string): boolean => conditionOf(workload, type)?.status === 'True'

/** A Workload that waits gets quota for all its pods, or for `workers`; others stay as they are. */
export function admitted(object: KubeObject, now: number, workers?: number): KubeObject {
  if (!isWorkload(object) || !canBeAdmitted(object)) return object
  const podSetAssignments = object.spec.podSets.map(({ name, count }) => ({
    name,
    count: name === 'worker' ? (workers ?? count) : count,
    flavors: { cpu: FLAVOR },
  }))
  return withStatus(
    object,
    { ...object.status, admission: { clusterQueue: 'team-a', podSetAssignments } },
    [
      ['QuotaReserved', 'True', 'QuotaReserved', 'Quota reserved in ClusterQueue team-a'],
      ['Admitted', 'True', 'Admitted', 'The workload is admitted'],
      ['Evicted', 'False', 'QuotaReserved', ''],
    ],
    now,
  )
}

const canBeAdmitted = (workload: Workload): boolean =>
  workload.metadata.deletionTimestamp === undefined &&
  workload.spec.active !== false &&
  !holds(workload, 'QuotaReserved') &&
  !holds(workload, 'Finished')

/** A Workload with quota is told to give it back. */
export function evicted(object: KubeObject, now: number, reason = 'Preempted'): KubeObject {
  if (!isWorkload(object) || !holds(object, 'QuotaReserved')) return object
  return withStatus(
    object,
    object.status ?? {},
    [['Evicted', 'True', reason, 'Preempted to accommodate a workload']],
    now,
  )
}

/** A Workload for which there is no quota. */
export function refused(object: KubeObject, now: number, message: string): KubeObject {
  if (!isWorkload(object) || holds(object, 'QuotaReserved')) return object
  return withStatus(object, object.status ?? {}, [['QuotaReserved', 'False', 'WaitingForQuota', message]], now)
}

type News = readonly [type: string, status: Condition['status'], reason: string, message: string]

function withStatus(workload: Workload, status: WorkloadStatus, news: readonly News[], now: number): Workload {
  const types = news.map(([type]) => type)
  const kept = (status.conditions ?? []).filter(({ type }) => !types.includes(type))
  const lastTransitionTime = timestamp(now)
  const fresh = news.map(([type, is, reason, message]) => ({ type, status: is, reason, message, lastTransitionTime }))
  return { ...workload, status: { ...status, conditions: [...kept, ...fresh] } }
}
