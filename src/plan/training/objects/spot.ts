/** `scheduling.spot` as tolerations and node affinity, by the labels that the administrator has configured for spot nodes. */
import type { Affinity } from '../../../api/affinity.ts'
import type { Scheduling } from '../../../api/training-scheduling.ts'
import type { SpotConfig } from '../cost-config.ts'

type NodeAffinity = NonNullable<Affinity['nodeAffinity']>
type Term = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number]

/** Stronger than any other preference. */
const WEIGHT = 100

export function withSpot(scheduling: Omit<Scheduling, 'topologyKey'>, config: SpotConfig): typeof scheduling {
  const { spot, tolerations = [], affinity = {} } = scheduling
  if (spot === undefined) return scheduling
  const nodeAffinity = nodeAffinityFor(spot, affinity.nodeAffinity ?? {}, config)
  return {
    ...scheduling,
    affinity: { ...affinity, nodeAffinity },
    ...(spot !== 'never' && { tolerations: [...config.spotTolerations.map(tolerationOf), ...tolerations] }),
  }
}

const tolerationOf = (toleration: SpotConfig['spotTolerations'][number]) => ({
  operator: 'Equal' as const,
  ...toleration,
})

function nodeAffinityFor(spot: NonNullable<Scheduling['spot']>, own: NodeAffinity, config: SpotConfig): NodeAffinity {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = own
  const onSpot = Object.entries(config.spotLabels).map(([key, value]) => termOf(key, 'In', value))
  if (spot === 'prefer') {
    const added = onSpot.map((preference) => ({ weight: WEIGHT, preference }))
    return { ...own, preferredDuringSchedulingIgnoredDuringExecution: [...preferred, ...added] }
  }
  const elsewhere = Object.entries(config.spotLabels).map(([key, value]) => termOf(key, 'NotIn', value))
  const wanted = spot === 'require' ? onSpot : [merged(elsewhere)]
  // One of the terms has to match, so a further requirement becomes a part of each. An empty term matches no node.
  const nodeSelectorTerms = required
    ? required.nodeSelectorTerms.flatMap((term) =>
        term.matchExpressions.length > 0 ? wanted.map((one) => merged([term, one])) : [term],
      )
    : wanted
  return { ...own, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
}

const termOf = (key: string, operator: 'In' | 'NotIn', value: string): Term => ({
  matchExpressions: [{ key, operator, values: [value] }],
})

const merged = (terms: readonly Term[]): Term => ({
  matchExpressions: terms.flatMap(({ matchExpressions }) => matchExpressions),
})
