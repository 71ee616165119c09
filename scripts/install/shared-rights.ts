/** Permissions that several kinds or variants share: models of both API groups, traffic providers, gang schedulers. */
import type { TrafficProvider } from '../../src/plan/traffic/index.ts'
import type { GangScheduler } from '../../src/plan/training/index.ts'
import type { Right, Verb } from './rights.ts'

/** Children are applied: `patch`, and `create` when they do not exist. `get` is for name conflicts. */
export const CHILDREN: readonly Verb[] = ['get', 'list', 'watch', 'create', 'patch', 'delete']

export const evictionRight: Right = {
  place: 'watched',
  group: '',
  resources: ['pods/eviction'],
  verbs: ['create'],
  why: 'Replace pods of models that fail their health check, as far as PodDisruptionBudgets allow.',
}

/** Models of both API groups need the same permissions, except for `more`. */
export function modelRights(group: string, more: readonly Verb[] = [], also = ''): Right[] {
  const of = (part: string, verbs: readonly Verb[], why: string): Right => ({
    place: 'watched',
    group,
    resources: [`modeldeployments${part}`],
    verbs,
    why,
  })
  return [
    of('', ['get', 'list', 'watch', ...more], `Read models, also directly before children are deleted${also}.`),
    of('/status', ['patch'], 'Write the status of models.'),
    of('/finalizers', ['update'], 'Set blockOwnerDeletion where OwnerReferencesPermissionEnforcement is enabled.'),
  ]
}

/** A gang scheduler with quota: its groups say how the pods are, and other objects are read by name. */
export function quotaRights({ quota, kinds }: GangScheduler): Right[] {
  if (!quota) return []
  const groups = Map.groupBy(quota.reads, ({ group }) => group)
  return [
    ...kinds.map(({ resource }): Right => ({
      place: 'watched',
      group: resource.group,
      resources: [`${resource.plural}/status`],
      verbs: ['patch'],
      why: 'Report to the queue whether the pods run and how the job ends, and give quota back.',
    })),
    ...[...groups].map(([group, own]): Right => ({
      place: 'cluster',
      group,
      resources: own.map(({ plural }) => plural),
      verbs: ['get'],
      why: quota.readPermission,
    })),
  ]
}

/** The kinds that a traffic provider or gang scheduler declares: one rule for each API group. */
export function variantRights(variant: TrafficProvider | GangScheduler): Right[] {
  const { kinds, permission = '' } = variant
  // A group with quota is created and never changed.
  const verbs = 'quota' in variant && variant.quota ? CHILDREN.filter((verb) => verb !== 'patch') : CHILDREN
  const groups = Map.groupBy<string, (typeof kinds)[number]>(kinds, ({ resource }) => resource.group)
  return [...groups].map(([group, own]) => ({
    place: 'watched',
    group,
    resources: own.map(({ resource }) => resource.plural),
    verbs,
    why: permission,
  }))
}
