/**
 * Every read that a pass over a TrainingJob makes. All come from memory, but for the last lines of a failed worker, and
 * for the members of a job that seems to have lost one: caches of two kinds may be behind by different amounts, and a gang
 * that is restarted by mistake has lost its work.
 */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { parseQuantity, quantityNumber } from '../kube/quantity.ts'
import type { Node, Pod } from '../kube/resources.ts'
import { claimNames } from '../plan/training/claims.ts'
import type { TrainingConfig } from '../plan/training/config.ts'
import { needsLog } from '../plan/training/failure.ts'
import { gpusOf } from '../plan/training/attempt.ts'
import { unschedulableMessage } from '../plan/training/gpu-supply.ts'
import { ROLE_LABEL, WORKER } from '../plan/training/names.ts'
import type { GpuNode, NodeFacts, TrainingObserved } from '../plan/training/observed.ts'
import { missesMembers } from '../plan/training/scene.ts'
import { freshSshKeys } from './ssh-keys.ts'
import { jobKeys, NODE, type TrainingCaches } from './training-caches.ts'
import { cachedMembers, type Members, type ReadMembers } from './training-members.ts'

/** The last lines of a worker's log, or undefined if they cannot be had. Never throws. */
export type ReadLog = (pod: Pod) => Promise<string | undefined>

export interface GatherDeps {
  readonly caches: TrainingCaches
  readonly config: TrainingConfig
  readonly now: number
  readonly readLog: ReadLog
  readonly readMembers: ReadMembers
}

/** A failure is explained by one worker; when hundreds fail together, the first few are asked. */
const MOST_LOGS = 3

export async function gatherTraining(job: TrainingJob, deps: GatherDeps): Promise<TrainingObserved> {
  const cached = withMembers(job, cachedMembers(job, deps.caches), deps)
  const observed = missesMembers(cached) ? withMembers(job, await deps.readMembers(job), deps) : cached
  return {
    ...observed,
    logTails: await logTails(job, observed.pods, deps),
    ...(wantsKeys(job) && { sshKeys: await freshSshKeys() }),
  }
}

function withMembers(job: TrainingJob, members: Members, deps: GatherDeps): TrainingObserved {
  const { caches, config, now } = deps
  const { namespace = '' } = job.metadata
  return {
    job,
    now,
    config,
    ...members,
    claims: claimNames(job).flatMap((name) => caches.claims.get({ namespace, name }) ?? []),
    nodes: nodesOf(members.pods, caches),
    ...(members.pods.some((pod) => unschedulableMessage(pod) !== undefined) && { gpuNodes: gpuNodes(deps) }),
    logTails: new Map(),
  }
}

function nodesOf(pods: readonly Pod[], { nodes }: TrainingCaches): NodeFacts[] {
  const names = new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))
  return [...names].flatMap((name) => {
    const node = nodes.get({ name })
    return node ? [factsOf(node)] : []
  })
}

/** Every node, every pod of ours on it: asked only for a job that waits. */
function gpuNodes({ caches, config }: GatherDeps): GpuNode[] {
  return caches.nodes.list().flatMap((node) => {
    const gpus = quantityNumber(parseQuantity(node.status?.allocatable?.[config.gpuResource] ?? 0))
    if (gpus === 0 || node.spec?.unschedulable || !factsOf(node).ready) return []
    const held = caches.pods.byIndex(NODE, node.metadata.name).filter(isRunning)
    return [{ gpus, held: held.reduce((sum, pod) => sum + heldBy(pod, caches), 0) }]
  })
}

const isRunning = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

function heldBy(pod: Pod, { jobs }: TrainingCaches): number {
  const job = jobKeys(pod).flatMap((key) => jobs.get(key) ?? [])[0]
  return job ? gpusOf(job.spec, pod.metadata.labels?.[ROLE_LABEL] ?? WORKER) : 0
}

export function factsOf({ metadata, status }: Node): NodeFacts {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const since = Date.parse(ready?.lastTransitionTime ?? '')
  return { name: metadata.name, ready: ready?.status === 'True', since: Number.isNaN(since) ? 0 : since }
}

async function logTails(job: TrainingJob, pods: readonly Pod[], { readLog }: GatherDeps): Promise<Map<string, string>> {
  const unexplained = pods.filter((pod) => needsLog(job, pod)).slice(0, MOST_LOGS)
  const tails = await Promise.all(unexplained.map(async (pod) => [pod.metadata.uid ?? '', await readLog(pod)] as const))
  return new Map(tails.flatMap(([uid, tail]) => (tail === undefined ? [] : [[uid, tail] as const])))
}

/** Made anew in every pass until the job has begun; the first pair that is stored stays. */
function wantsKeys({ spec, status }: TrainingJob): boolean {
  return spec.framework === 'mpi' && status?.startTime === undefined
}
