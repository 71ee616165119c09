/**
 * GPUs that a waiting job could get, in words. What pods use that are no workers of training jobs is not known here, so
 * what is free is said to be so at most; the scheduler, who knows, is quoted beside it.
 */
import type { Pod } from '../../kube/resources.ts'
import { gpusOf } from './attempt.ts'
import type { Member } from './member.ts'
import type { GpuNode, TrainingObserved } from './observed.ts'

/** Whether the scheduler has looked for a node for this pod in vain. */
export function unschedulableMessage({ status }: Pod): string | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return condition?.status === 'False' && condition.reason === 'Unschedulable' ? (condition.message ?? '') : undefined
}

/** `8 nvidia.com/gpu each; the largest node has 4, at most 3 are free on one node and 11 of 16 on all 4` */
export function gpuShortage({ job, config, gpuNodes = [] }: TrainingObserved, waiting: readonly Member[]): string {
  const most = Math.max(...waiting.map(({ role }) => gpusOf(job.spec, role)))
  return `${most} ${config.gpuResource} each; ${supply(gpuNodes)}`
}

function supply(nodes: readonly GpuNode[]): string {
  if (nodes.length === 0) return 'no node that takes pods has any'
  const free = nodes.map(({ gpus, held }) => Math.max(0, gpus - held))
  const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
  const gpus = nodes.map((node) => node.gpus)
  return (
    `the largest node has ${Math.max(...gpus)}, at most ${Math.max(...free)} are free on one node ` +
    `and ${total(free)} of ${total(gpus)} on all ${nodes.length}`
  )
}
