/** Roles and bindings from the table of permissions, for some or for all namespaces. */

import type { KubeObject } from '../../src/kube/object.ts'
import { type Place, type Right, rights } from './rights.ts'
import { type PolicyRule, userGrants } from './user-roles.ts'

export const NAME = 'ml-operator'
export const NAMESPACE = 'ml-operator-system'

const API = 'rbac.authorization.k8s.io/v1'
const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/part-of': NAME }

export interface Grant {
  readonly object: KubeObject
  /** The permissions of the rules, in order; a binding has none. */
  readonly rights: readonly Right[]
}

export function rulesAt(place: Place): PolicyRule[] {
  return rights.filter((right) => right.place === place).map(rule)
}

/** The rules for the chart, which leaves out what its values make unnecessary. */
export function markedRulesAt(place: Place): (PolicyRule & Pick<Right, 'forWebhook' | 'forMetricsAuth'>)[] {
  return rights
    .filter((right) => right.place === place)
    .map((right) => ({
      ...rule(right),
      ...(right.forWebhook && { forWebhook: true as const }),
      ...(right.forMetricsAuth && { forMetricsAuth: true as const }),
    }))
}

function rule({ group, resources, names, verbs }: Right): PolicyRule {
  return { apiGroups: [group], resources, ...(names && { resourceNames: names }), verbs }
}

/** For an operator that serves all namespaces. */
export function clusterWideRoles(): Grant[] {
  return [
    role('ClusterRole', NAME, ['cluster', 'watched']),
    binding('ClusterRole', NAME),
    role('Role', NAME, ['own']),
    binding('Role', NAME),
    ...userRoles(NAME),
  ]
}

/** For an operator that serves its own namespace only. It still needs to read cluster-scoped kinds. */
export function namespacedRoles(): Grant[] {
  return [
    role('ClusterRole', `${NAME}-namespaced`, ['cluster']),
    binding('ClusterRole', `${NAME}-namespaced`),
    role('Role', NAME, ['own', 'watched']),
    binding('Role', NAME),
    ...userRoles(`${NAME}-namespaced`),
  ]
}

/** For an operator that authenticates the readers of its metrics, in addition. The first role is for these readers. */
export function metricsAuthRoles(): Grant[] {
  const name = `${NAME}-metrics-auth`
  const reader = {
    apiVersion: API,
    kind: 'ClusterRole',
    metadata: { name: `${NAME}-metrics-reader`, labels },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  }
  const granted = rights.filter(({ forMetricsAuth }) => forMetricsAuth === true)
  const object = { apiVersion: API, kind: 'ClusterRole', metadata: { name, labels }, rules: granted.map(rule) }
  return [{ object: reader, rights: [] }, { object, rights: granted }, binding('ClusterRole', name)]
}

/** Aggregated to the roles of Kubernetes for users. */
function userRoles(prefix: string): Grant[] {
  return Object.entries(userGrants).map(([name, grant]) => ({
    object: {
      apiVersion: API,
      kind: 'ClusterRole',
      metadata: { name: `${prefix}-${name}`, labels: { ...labels, ...grant.labels } },
      rules: grant.rules,
    },
    rights: [],
  }))
}

type RoleKind = 'ClusterRole' | 'Role'

function role(kind: RoleKind, name: string, places: readonly Place[]): Grant {
  const granted = places.flatMap((place) => rights.filter((right) => right.place === place && !right.forMetricsAuth))
  const object = { apiVersion: API, kind, metadata: metadata(kind, name), rules: granted.map(rule) }
  return { object, rights: granted }
}

function binding(kind: RoleKind, name: string): Grant {
  const object = {
    apiVersion: API,
    kind: `${kind}Binding`,
    metadata: metadata(kind, name),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
  }
  return { object, rights: [] }
}

function metadata(kind: RoleKind, name: string) {
  return { name, ...(kind === 'Role' && { namespace: NAMESPACE }), labels }
}
