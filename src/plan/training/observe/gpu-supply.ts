/**
 * The GPUs that a waiting job could get, for its message. Pods other than those of training jobs are not observed, so the
 * number of free GPUs is an upper bound; the message of the scheduler, which knows, follows it.
 */
import { gpusOf } from '../frameworks/roles.ts'
import { isOrAre, quantify } from '../report/wording.ts'
import type { Member } from './member.ts'
import type { GpuNode, TrainingObserved } from './observed.ts'

/** `8 nvidia.com/gpu each; the largest node has 4, at most 3 are free on one node and 11 of 16 on all 4 nodes` */
export function describeGpuShortage(
  { job, config, gpuNodes = [] }: TrainingObserved,
  waiting: readonly Member[],
): string {
  const most = Math.max(...waiting.map(({ role }) => gpusOf(job.spec, role)))
  const hint = gpuNodes.length === 0 ? `; ${cpuHint(most)}` : ''
  return `${most} ${config.gpuResource} each; ${describeSupply(gpuNodes)}${hint}`
}

/** A job that does not set `gpusPerWorker` requests a GPU, also in a cluster without any. */
function cpuHint(requested: number): string {
  const set = requested === 1 ? 'gpusPerWorker is 1 unless set' : `gpusPerWorker is ${requested}`
  return `${set}: create the job with gpusPerWorker 0 to train without GPUs`
}

function describeSupply(nodes: readonly GpuNode[]): string {
  if (nodes.length === 0) return 'no schedulable node has any'
  const free = nodes.map(({ gpus, held }) => Math.max(0, gpus - held))
  const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
  const gpus = nodes.map((node) => node.gpus)
  const most = Math.max(...free)
  const all = nodes.length === 1 ? 'the only node' : `all ${quantify(nodes.length, 'node')}`
  return (
    `the largest node has ${Math.max(...gpus)}, at most ${most} ${isOrAre(most)} free on one node ` +
    `and ${total(free)} of ${total(gpus)} on ${all}`
  )
}
