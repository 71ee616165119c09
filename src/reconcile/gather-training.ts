/**
 * Every read of one pass over a TrainingJob. All reads are from caches, except the last log lines of a failed worker, the
 * events of a claim that stays Pending, and the pods of a job for which `needsLiveRead` is true: the caches of two kinds can lag by different amounts, and a gang
 * that is restarted by mistake loses work.
 */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { Tracker } from '../integrations/mlflow/tracker.ts'
import { type KubeObject, keyOf } from '../kube/object.ts'
import { parseQuantity, quantityNumber } from '../kube/quantity.ts'
import type { Node, Pod } from '../kube/resources.ts'
import type { NodePlacement } from '../plan/pod/node-fit.ts'
import { unschedulable } from '../plan/pod-trouble.ts'
import {
  awaitsDeployment,
  type GpuNode,
  gpuNodeAddresses,
  gpusOf,
  isMember,
  needsLiveRead,
  progressMark,
  progressTarget,
  quotaReferences,
  referenceKey,
  type NodeFacts,
  resumedJobName,
  podLog,
  ROLE_LABEL,
  secretsToGenerate,
  slowRank,
  stuckClaims,
  type TrainingConfig,
  type TrainingObserved,
  watchedClaims,
  unexplainedMembers,
  WORKER,
  workloadName,
} from '../plan/training/index.ts'
import type { ReadClaimEvent } from './claim-event.ts'
import { gatherHistory, HISTORY_LINES } from './gather-history.ts'
import { FAILURE_LINES, lastLines } from './log-tail.ts'
import { NODE } from './node-cache.ts'
import { jobKeys, servedGangKinds, type TrainingCaches } from './training-caches.ts'
import type { HistoryStore } from './training-history.ts'
import { cachedMembers, type Members, ownWorkload, type ReadMembers } from './training-members.ts'
import type { ReadReference } from './quota-reference.ts'
import type { ProgressWatch } from './progress-watch.ts'
import type { GpuUtilization } from './gpu-utilization.ts'
import type { TrainingReports } from './training-reports.ts'
import { generateSecretData } from './training-secrets.ts'

/** The last lines of a worker's log; undefined if they cannot be read. Never throws. */
export type ReadLog = (pod: Pod, lines: number) => Promise<string | undefined>

export interface GatherDeps {
  readonly caches: TrainingCaches
  readonly config: TrainingConfig
  readonly now: number
  readonly readLog: ReadLog
  readonly readClaimEvent: ReadClaimEvent
  readonly readMembers: ReadMembers
  readonly readReference: ReadReference
  readonly progressWatch: Pick<ProgressWatch, 'observe'>
  readonly slowWatch: Pick<ProgressWatch, 'observe'>
  readonly gpuUsage?: Pick<GpuUtilization, 'follow' | 'of'>
  readonly reports?: Pick<TrainingReports, 'of' | 'problemOf' | 'follow' | 'reporting'>
  /** Collected while jobs run; only if histories are enabled. */
  readonly history?: HistoryStore
  readonly tracker?: Pick<Tracker, 'of'>
}

/** One log explains a failure. When hundreds of workers fail together, only the first few are read. */
const MAX_LOGS = 3

export async function gatherTraining(job: TrainingJob, deps: GatherDeps): Promise<TrainingObserved> {
  const cached = withMembers(job, cachedMembers(job, deps.caches), deps)
  const current = needsLiveRead(cached) ? withMembers(job, await deps.readMembers(job), deps) : cached
  const observed = { ...current, ...(await readQuotaObjects(current, deps)) }
  deps.reports?.follow({ key: keyOf(job), uid: job.metadata.uid ?? '' }, progressTarget(observed))
  return {
    ...observed,
    ...durationsOf(observed, deps),
    ...utilizationOf(observed, deps),
    logTails: await readLogTails(observed, deps),
    ...(await readClaimEvents(observed, deps)),
    ...(await gatherHistory(observed, deps)),
    secretData: await generateSecretData(secretsToGenerate(job)),
  }
}

async function readQuotaObjects(
  observed: TrainingObserved,
  { readReference }: GatherDeps,
): Promise<Pick<TrainingObserved, 'found'>> {
  const references = quotaReferences(observed)
  if (references.length === 0) return {}
  const found = await Promise.all(
    references.map(async (one) => {
      const object = await readReference(one)
      return object ? [[referenceKey(one), object] as const] : []
    }),
  )
  return { found: new Map(found.flat()) }
}

function utilizationOf(observed: TrainingObserved, { gpuUsage }: GatherDeps): Pick<TrainingObserved, 'gpuUtilization'> {
  if (!gpuUsage) return {}
  const { job, pods } = observed
  gpuUsage.follow({ key: keyOf(job), uid: job.metadata.uid ?? '' }, gpuNodeAddresses(observed))
  const known = pods.flatMap(({ metadata: { namespace = '', name }, status }) => {
    const percent = gpuUsage.of(namespace, name, status?.hostIP)
    return percent === undefined ? [] : [[name, percent] as const]
  })
  return { gpuUtilization: new Map(known) }
}

/** How long what is observed lasts. */
function durationsOf(observed: TrainingObserved, { progressWatch, slowWatch }: GatherDeps): Partial<TrainingObserved> {
  const { uid = '' } = observed.job.metadata
  const stillness = progressWatch.observe(uid, progressMark(observed))
  const slow = slowRank(observed)
  const slowness = slowWatch.observe(uid, slow && { mark: slow.podName, recordedMs: 0 })
  return { ...(stillness && { stillness }), ...(slowness && { slowMs: slowness.watchedMs }) }
}

function withMembers(job: TrainingJob, members: Members, deps: GatherDeps): TrainingObserved {
  const { caches, config, now } = deps
  const { namespace = '', deletionTimestamp } = job.metadata
  const resumedJob = resumedBy(job, caches)
  const pods = [...members.pods, ...(members.checkpointPods ?? [])]
  return {
    job,
    now,
    config,
    ...members,
    ...(resumedJob && { resumedJob }),
    ...groupsOf(job, caches),
    ...(deletionTimestamp !== undefined && { owned: ownedBy(job, caches) }),
    ...progressOf(job, deps),
    ...modelOf(job, caches),
    ...(deps.tracker && { tracked: deps.tracker.of(job.metadata.uid ?? '') }),
    claims: watchedClaims(job, resumedJob).flatMap((name) => caches.claims.get({ namespace, name }) ?? []),
    nodes: nodesOf(pods, caches),
    ...(pods.some((pod) => unschedulable(pod) !== undefined) && {
      gpuNodes: gpuNodes(deps),
      placements: caches.nodes.list().map(placementOf),
    }),
    logTails: new Map(),
  }
}

function resumedBy(job: TrainingJob, { jobs }: TrainingCaches): TrainingJob | undefined {
  const name = resumedJobName(job)
  return name === undefined ? undefined : jobs.get({ namespace: job.metadata.namespace ?? '', name })
}

function progressOf(
  { metadata: { uid = '' } }: TrainingJob,
  { reports }: GatherDeps,
): Pick<TrainingObserved, 'reports' | 'reporting' | 'progressProblem'> {
  const reporting = reports?.reporting()
  const progressProblem = reports?.problemOf(uid)
  return {
    ...(reports && { reports: reports.of(uid) }),
    ...(reporting && { reporting }),
    ...(progressProblem !== undefined && { progressProblem }),
  }
}

function modelOf(job: TrainingJob, { models }: TrainingCaches): Pick<TrainingObserved, 'model'> {
  if (!awaitsDeployment(job)) return {}
  const { namespace = '' } = job.metadata
  const model = models.get({ namespace, name: job.spec.output?.deploy?.name ?? '' })
  return model ? { model } : {}
}

function ownedBy(job: TrainingJob, { services, configMaps, groups }: TrainingCaches): KubeObject[] {
  const { uid = '' } = job.metadata
  return [services, configMaps, ...groups].flatMap((cache) => cache.ownedBy(uid))
}

function groupsOf(job: TrainingJob, caches: TrainingCaches): Pick<TrainingObserved, 'groups' | 'servedKinds'> {
  const { uid = '' } = job.metadata
  return { groups: caches.groups.flatMap((cache) => cache.ownedBy(uid)), servedKinds: servedGangKinds(caches) }
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
  return {
    name: metadata.name,
    ready: ready?.status === 'True',
    since: Number.isNaN(since) ? 0 : since,
    labels: metadata.labels ?? {},
  }
}

async function readLogTails(observed: TrainingObserved, deps: GatherDeps): Promise<Map<string, string>> {
  const { readLog, config, history } = deps
  if (!config.failureLogs) return new Map()
  const failed = unexplainedMembers(observed).slice(0, MAX_LOGS)
  const tails = await Promise.all(
    failed.map(async (member) => {
      const { uid = '' } = member.pod?.metadata ?? {}
      const tail = member.pod && (await readLog(member.pod, history ? HISTORY_LINES : FAILURE_LINES))
      if (tail === undefined) return []
      history?.addLog(observed.job.metadata.uid ?? '', uid, podLog(member, tail))
      return [[uid, lastLines(tail, FAILURE_LINES)] as const]
    }),
  )
  return new Map(tails.flat())
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
