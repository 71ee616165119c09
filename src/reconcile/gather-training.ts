/**
 * Every read of one pass over a TrainingJob. All reads are from caches, except the last log lines of a failed worker, the
 * events of a claim that stays Pending, and the pods of a job for which `needsLiveRead` is true: the caches of two kinds can lag by different amounts, and a gang
 * that is restarted by mistake loses work.
 */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { KubeObject } from '../kube/object.ts'
import { parseQuantity, quantityNumber } from '../kube/quantity.ts'
import type { Node, Pod } from '../kube/resources.ts'
import { unschedulable } from '../plan/pod-trouble.ts'
import {
  claimNames,
  type GpuNode,
  gpusOf,
  isMember,
  needsLiveRead,
  needsLog,
  type NodeFacts,
  type NodePlacement,
  ROLE_LABEL,
  secretsToGenerate,
  stuckClaims,
  type TrainingConfig,
  type TrainingObserved,
  WORKER,
  workloadName,
} from '../plan/training/index.ts'
import type { ReadClaimEvent } from './claim-event.ts'
import { jobKeys, NODE, type TrainingCaches } from './training-caches.ts'
import { cachedMembers, type Members, ownWorkload, type ReadMembers } from './training-members.ts'
import { generateSecretData } from './training-secrets.ts'

/** The last lines of a worker's log; undefined if they cannot be read. Never throws. */
export type ReadLog = (pod: Pod) => Promise<string | undefined>

export interface GatherDeps {
  readonly caches: TrainingCaches
  readonly config: TrainingConfig
  readonly now: number
  readonly readLog: ReadLog
  readonly readClaimEvent: ReadClaimEvent
  readonly readMembers: ReadMembers
}

/** One log explains a failure. When hundreds of workers fail together, only the first few are read. */
const MAX_LOGS = 3

export async function gatherTraining(job: TrainingJob, deps: GatherDeps): Promise<TrainingObserved> {
  const cached = withMembers(job, cachedMembers(job, deps.caches), deps)
  const observed = needsLiveRead(cached) ? withMembers(job, await deps.readMembers(job), deps) : cached
  return {
    ...observed,
    logTails: await readLogTails(job, observed.pods, deps),
    ...(await readClaimEvents(observed, deps)),
    secretData: await generateSecretData(secretsToGenerate(job)),
  }
}

function withMembers(job: TrainingJob, members: Members, deps: GatherDeps): TrainingObserved {
  const { caches, config, now } = deps
  const { namespace = '', deletionTimestamp } = job.metadata
  return {
    job,
    now,
    config,
    ...members,
    ...(deletionTimestamp !== undefined && { owned: ownedBy(job, caches) }),
    claims: claimNames(job).flatMap((name) => caches.claims.get({ namespace, name }) ?? []),
    nodes: nodesOf(members.pods, caches),
    ...(members.pods.some((pod) => unschedulable(pod) !== undefined) && {
      gpuNodes: gpuNodes(deps),
      placements: caches.nodes.list().map(placementOf),
    }),
    logTails: new Map(),
  }
}

function ownedBy({ metadata: { uid = '' } }: TrainingJob, { services, configMaps }: TrainingCaches): KubeObject[] {
  return [...services.ownedBy(uid), ...configMaps.ownedBy(uid)]
}

function nodesOf(pods: readonly Pod[], { nodes }: TrainingCaches): NodeFacts[] {
  const names = new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))
  return [...names].flatMap((name) => {
    const node = nodes.get({ name })
    return node ? [factsOf(node)] : []
  })
}

/** Visits every node and every pod of ours on it, so it is called only for a job that waits for a node. */
function gpuNodes({ caches, config }: GatherDeps): GpuNode[] {
  return caches.nodes.list().flatMap((node) => {
    const gpus = quantityNumber(parseQuantity(node.status?.allocatable?.[config.gpuResource] ?? 0))
    if (gpus === 0 || node.spec?.unschedulable || !factsOf(node).ready) return []
    const active = caches.pods.byIndex(NODE, node.metadata.name).filter(isActive)
    return [{ gpus, held: active.reduce((sum, pod) => sum + gpusHeldBy(pod, caches), 0) }]
  })
}

const placementOf = ({ metadata, spec }: Node): NodePlacement => ({
  labels: metadata.labels ?? {},
  taints: (spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule'),
})

const isActive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

function gpusHeldBy(pod: Pod, { jobs, workloads }: TrainingCaches): number {
  const job = jobKeys(pod).flatMap((key) => jobs.get(key) ?? [])[0]
  if (!job) return 0
  const { namespace = '' } = job.metadata
  const workload = ownWorkload(job, workloads.get({ namespace, name: workloadName(job) }))
  return isMember(pod, job, workload) ? gpusOf(job.spec, pod.metadata.labels?.[ROLE_LABEL] ?? WORKER) : 0
}

export function factsOf({ metadata, status }: Node): NodeFacts {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const since = Date.parse(ready?.lastTransitionTime ?? '')
  return { name: metadata.name, ready: ready?.status === 'True', since: Number.isNaN(since) ? 0 : since }
}

async function readLogTails(job: TrainingJob, pods: readonly Pod[], deps: GatherDeps): Promise<Map<string, string>> {
  const { readLog, config } = deps
  if (!config.failureLogs) return new Map()
  const failed = pods.filter((pod) => needsLog(job, pod)).slice(0, MAX_LOGS)
  const tails = await Promise.all(failed.map(async (pod) => [pod.metadata.uid ?? '', await readLog(pod)] as const))
  return new Map(tails.flatMap(([uid, tail]) => (tail === undefined ? [] : [[uid, tail] as const])))
}

async function readClaimEvents(
  observed: TrainingObserved,
  { readClaimEvent }: GatherDeps,
): Promise<Pick<TrainingObserved, 'claimEvents'>> {
  const claims = stuckClaims(observed)
  if (claims.length === 0) return {}
  const causes = await Promise.all(
    claims.map(async (claim) => [claim.metadata.name, await readClaimEvent(claim)] as const),
  )
  return {
    claimEvents: new Map(causes.flatMap(([name, cause]) => (cause === undefined ? [] : [[name, cause] as const]))),
  }
}
