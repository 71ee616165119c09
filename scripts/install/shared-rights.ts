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

/** The kinds that a traffic provider or gang scheduler declares: one rule for each API group. */
export function variantRights({ kinds, permission = '' }: TrafficProvider | GangScheduler): Right[] {
  const groups = Map.groupBy<string, (typeof kinds)[number]>(kinds, ({ resource }) => resource.group)
  return [...groups].map(([group, own]) => ({
    place: 'watched',
    group,
    resources: own.map(({ resource }) => resource.plural),
    verbs: CHILDREN,
    why: permission,
  }))
}
