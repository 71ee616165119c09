/** What users may do with our kinds: rules that are aggregated to the roles view, edit and admin of Kubernetes. */

import { type Kind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds.ts'

export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

export interface UserGrant {
  readonly labels: Readonly<Record<string, string>>
  readonly rules: readonly PolicyRule[]
}

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection']
const SCALE = ['get', 'update', 'patch']

/** No role may write a status: it records the decisions of the operator. */
export const userGrants: Readonly<Record<'view' | 'edit' | 'admin', UserGrant>> = {
  view: { labels: aggregatedTo('view', 'edit', 'admin'), rules: rulesOf(READ, ['get']) },
  edit: { labels: aggregatedTo('edit', 'admin'), rules: rulesOf([...READ, ...WRITE], SCALE) },
  admin: { labels: aggregatedTo('admin'), rules: rulesOf(['*'], SCALE) },
}

function aggregatedTo(...roles: readonly string[]): Record<string, string> {
  return Object.fromEntries(roles.map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']))
}

/** One rule for the kinds of each API group, and one for those that can be scaled. */
function rulesOf(verbs: readonly string[], scaleVerbs: readonly string[]): PolicyRule[] {
  const groups = [...Map.groupBy(kinds, ({ group }) => group)]
  return groups.flatMap(([group, own]) => {
    const scaled = own.filter(isScaled).map(({ plural }) => `${plural}/scale`)
    return [
      { apiGroups: [group], resources: own.map(({ plural }) => plural), verbs },
      ...(scaled.length === 0 ? [] : [{ apiGroups: [group], resources: scaled, verbs: scaleVerbs }]),
    ]
  })
}

function isScaled({ versions }: Kind): boolean {
  return versions.some(({ scale }) => scale !== undefined)
}
