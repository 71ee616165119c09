/** Why no node matches the pods of a job: the labels that no node has, and the taints that the pods do not tolerate. */
import { schedulingOf, type SchedulingSpec, type Toleration } from '../../pod/scheduling.ts'
import { gpusOf } from '../frameworks/roles.ts'
import { quantify } from '../report/wording.ts'
import type { Member } from './member.ts'
import type { NodePlacement, NodeTaint, TrainingObserved } from './observed.ts'

const MAX_TAINTS = 3

/** `no node has the label pool=a100 (scheduling.nodeSelector)`; empty if neither labels nor taints are the cause. */
export function describeMismatch(observed: TrainingObserved, waiting: readonly Member[]): string {
  const { job, config, placements = [] } = observed
  const usesGpus = waiting.some(({ role }) => gpusOf(job.spec, role) > 0)
  const { nodeSelector = {}, tolerations = [] } = schedulingOf(
    job.spec.scheduling ?? {},
    usesGpus,
    config,
  ) as SchedulingSpec
  const matching = placements.filter(({ labels }) => hasLabels(labels, nodeSelector))
  return matching.length === 0
    ? describeLabels(observed, nodeSelector, placements)
    : describeTaints(matching, tolerations)
}

type Labels = Readonly<Record<string, string>>

const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value)

function describeLabels({ job }: TrainingObserved, wanted: Labels, nodes: readonly NodePlacement[]): string {
  const own = job.spec.scheduling?.nodeSelector ?? {}
  const name = ([label, value]: readonly [string, string]): string =>
    `${label}=${value} (${label in own ? 'scheduling.nodeSelector' : 'gpuNodeSelector of the operator'})`
  const all = Object.entries(wanted)
  const missing = all.filter(([label, value]) => nodes.every(({ labels }) => labels[label] !== value))
  if (all.length === 0) return ''
  if (missing.length === 0) return `no node has all of the labels ${all.map(name).join(', ')}`
  return `no node has the label${missing.length === 1 ? '' : 's'} ${missing.map(name).join(', ')}`
}

function describeTaints(nodes: readonly NodePlacement[], tolerations: readonly Toleration[]): string {
  const untolerated = nodes.flatMap(({ taints }) =>
    taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint))).map(textOf),
  )
  const counts = [...Map.groupBy(untolerated, (taint) => taint)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  )
  if (counts.length === 0) return ''
  const named = counts.slice(0, MAX_TAINTS).map(([taint, all]) => `${taint} on ${quantify(all.length, 'node')}`)
  return `scheduling.tolerations does not tolerate the taint${named.length === 1 ? '' : 's'} ${named.join(', ')}`
}

const textOf = ({ key, value, effect }: NodeTaint): string => `${key}${value ? `=${value}` : ''}:${effect}`

function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: NodeTaint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false
  if (key === undefined || key === '') return operator === 'Exists'
  return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''))
}
