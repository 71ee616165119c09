/** Why no node matches the pods of a job: the labels that no node has, and the taints that the pods do not tolerate. */
import type { JsonObject } from '../../../api/json.ts'
import { mergePodSpec } from '../../pod/merge.ts'
import { hasLabels, type NodePlacement, type NodeTaint, tolerates } from '../../pod/node-fit.ts'
import { schedulingOf, type SchedulingSpec, type Toleration } from '../../pod/scheduling.ts'
import { gpusOf } from '../frameworks/roles.ts'
import { WORKER } from '../names.ts'
import { isSpotNode } from '../cost-config.ts'
import { templatesOf } from '../objects/pod-template.ts'
import { withSpot } from '../objects/spot.ts'
import { quantify } from '../report/wording.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'

const MAX_TAINTS = 3

/** `no node has the label pool=a100 (scheduling.nodeSelector)`; empty if neither labels nor taints are the cause. */
export function describeMismatch(observed: TrainingObserved, waiting: readonly Member[]): string {
  const { job, config, placements = [] } = observed
  const usesGpus = waiting.some(({ role }) => gpusOf(job.spec, role) > 0)
  const templates = templatesOf(job, waiting[0]?.role ?? WORKER).map((template) => placementIn(template?.spec))
  const { nodeSelector = {}, tolerations = [] } = templates.reduce(
    mergePodSpec,
    schedulingOf(withSpot(job.spec.scheduling ?? {}, config), usesGpus, config) as JsonObject,
  ) as SchedulingSpec
  const labelled = placements.filter(({ labels }) => hasLabels(labels, nodeSelector))
  if (labelled.length === 0) return describeLabels(observed, nodeSelector, placements)
  const matching = labelled.filter((node) => suitsSpot(observed, node))
  return matching.length === 0 ? describeSpot(observed) : describeTaints(matching, tolerations)
}

function suitsSpot({ job, config }: TrainingObserved, { labels }: NodePlacement): boolean {
  const { spot } = job.spec.scheduling ?? {}
  return (spot !== 'require' && spot !== 'never') || isSpotNode(labels, config) === (spot === 'require')
}

/** By the labels that tell spot nodes from others. */
function describeSpot({ job, config }: TrainingObserved): string {
  const labels = Object.entries(config.spotLabels).map(([label, value]) => `${label}=${value}`)
  const list = `${labels.join(', ')} (spotLabels of the operator)`
  return job.spec.scheduling?.spot === 'require'
    ? `scheduling.spot is require, and no suitable node has one of the labels ${list}`
    : `scheduling.spot is never, and all suitable nodes have one of the labels ${list}`
}

/** The fields of a pod template that are compared with nodes. */
function placementIn(spec: SchedulingSpec = {}): JsonObject {
  const { nodeSelector, tolerations } = spec
  return { ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) } as JsonObject
}

type Labels = Readonly<Record<string, string>>

function describeLabels({ job, config }: TrainingObserved, wanted: Labels, nodes: readonly NodePlacement[]): string {
  const own = job.spec.scheduling?.nodeSelector ?? {}
  const { gpuNodeSelector = {} } = config
  const sourceOf = (label: string): string => {
    if (label in own) return 'scheduling.nodeSelector'
    return label in gpuNodeSelector ? 'gpuNodeSelector of the operator' : 'nodeSelector of podTemplate'
  }
  const name = ([label, value]: readonly [string, string]): string => `${label}=${value} (${sourceOf(label)})`
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
