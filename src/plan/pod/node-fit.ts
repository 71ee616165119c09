/** Whether a node fits a pod by labels and taints. Free resources and other pods are not compared here. */
import type { Pod } from '../../kube/resources.ts'
import type { Toleration } from './scheduling.ts'

export interface NodeTaint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** What decides whether pods match a node: its labels, and its taints that keep pods away. */
export interface NodePlacement {
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly NodeTaint[]
}

type PodSpec = NonNullable<Pod['spec']>
type Affinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>
type Term = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number]
type Requirement = NonNullable<Term['matchExpressions']>[number]
type Labels = NodePlacement['labels']

export const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value)

export function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: NodeTaint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false
  if (key === undefined || key === '') return operator === 'Exists'
  return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''))
}

/** As the scheduler decides: node selector, required node affinity and taints. */
export function fitsNode(spec: PodSpec, { name, labels, taints }: NodePlacement & { readonly name: string }): boolean {
  const { nodeSelector = {}, tolerations = [], affinity } = spec
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return (
    hasLabels(labels, nodeSelector) &&
    (terms === undefined || terms.some((term) => matches(term, labels, name))) &&
    taints.every((taint) => tolerations.some((toleration) => tolerates(toleration as Toleration, taint)))
  )
}

/** A term without any requirement matches no node. */
function matches({ matchExpressions = [], matchFields = [] }: Term, labels: Labels, name: string): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((one) => holds(one, labels[one.key])) &&
    matchFields.every((one) => holds(one, one.key === 'metadata.name' ? name : undefined))
  )
}

function holds({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  const [bound] = values
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(bound)
    case 'Lt':
      return value !== undefined && Number(value) < Number(bound)
    default:
      return false
  }
}
