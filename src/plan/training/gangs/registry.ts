/** The gang schedulers, in the order in which `auto` tries them. The compiler reports one that the API names and is not here. */
import { apiVersionOf, type KubeObject, type Resource } from '../../../kube/object.ts'
import type { GangKind, GangRequest, GangScheduler, GangSchedulerName } from './contract.ts'
import { coscheduling } from './coscheduling.ts'
import { kueue } from './kueue/kueue.ts'
import { native } from './native.ts'
import { none } from './none.ts'
import { volcano } from './volcano.ts'

const registered: Readonly<Record<GangSchedulerName, GangScheduler>> = {
  volcano,
  kueue,
  coscheduling,
  native,
  none,
}

export const gangs: readonly GangScheduler[] = Object.values(registered)

/** Needs nothing of the cluster. */
export const plainGang: GangScheduler = none

export const gangNamed = (name: GangSchedulerName): GangScheduler => registered[name]

/** The gang scheduler that a label of a job chooses, because it names a queue. */
export const gangOfLabels = (labels: Readonly<Record<string, string>> = {}): GangScheduler | undefined =>
  gangs.find(({ quota }) => quota && labels[quota.queueLabel] !== undefined)

/** The gang scheduler whose group this is. */
export const gangOfGroup = ({ apiVersion, kind }: KubeObject): GangScheduler | undefined =>
  gangs.find(({ kinds }) =>
    kinds.some(({ resource }) => resource.kind === kind && apiVersionOf(resource) === apiVersion),
  )

/** Every kind that a gang scheduler declares. */
export const gangKinds: readonly GangKind[] = gangs.flatMap(({ kinds }) => kinds)

/** Names of the schedulers of pods, by gang scheduler. */
export type SchedulerNames = Readonly<Partial<Record<GangSchedulerName, string>>>

export const defaultSchedulerNames: SchedulerNames = Object.fromEntries(
  gangs.flatMap(({ name, schedulerName }) => (schedulerName === undefined ? [] : [[name, schedulerName]])),
)

/** The scheduler of pods that name none. */
export const CLUSTER_SCHEDULER = 'default-scheduler'

/** The choice of `auto`. A gang scheduler that the job excludes by its `schedulerName` or `queueName` does not suit. */
export function bestGang(
  request: GangRequest,
  served: ReadonlySet<string>,
  names: SchedulerNames,
): GangScheduler | undefined {
  if (request.pods < 2 && request.queueName === undefined) return plainGang
  return gangs.find((gang) => missingKind(gang, served) === undefined && suits(gang, request, names))
}

function suits(gang: GangScheduler, { schedulerName, queueName }: GangRequest, names: SchedulerNames): boolean {
  if (queueName !== undefined && !gang.hasQueues) return false
  if (gang.quota) return queueName !== undefined
  if (gang === plainGang || schedulerName === undefined) return true
  return schedulerName === (names[gang.name] ?? CLUSTER_SCHEDULER)
}

/** A kind as CRDs are named: `{plural}.{group}`. */
export const gangKindName = ({ plural, group }: Resource): string => `${plural}.${group}`

/** The first kind that a gang scheduler needs and the cluster does not serve. */
export function missingKind({ kinds }: GangScheduler, served: ReadonlySet<string>): Resource | undefined {
  return kinds.find(({ resource }) => !served.has(gangKindName(resource)))?.resource
}
