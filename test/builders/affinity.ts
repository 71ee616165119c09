/** An affinity that sets every field. */
const matchExpressions = [{ key: 'zone', operator: 'In', values: ['a'] }]
const podAffinityTerm = { labelSelector: { matchLabels: { app: 'cache' }, matchExpressions }, topologyKey: 'zone' }
const podAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }],
}
export const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions } }],
  },
  podAffinity,
  podAntiAffinity: podAffinity,
}
