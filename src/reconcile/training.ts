/**
 * The training controller: gather → plan → commit, for one TrainingJob at a time. Decisions are in src/plan/training; here
 * is what is watched, and what happens when a write is rejected.
 */
import { trainingJobs } from '../api/kinds.ts'
import { isManagedByOthers } from '../api/managed-by.ts'
import { isPaused } from '../api/paused.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { Tracker } from '../integrations/mlflow/tracker.ts'
import { ApiError, hasCause } from '../kube/errors.ts'
import { keyOf } from '../kube/object.ts'
import { type Node, Secret } from '../kube/resources.ts'
import {
  acceptanceOf,
  type DeletionPlan,
  defaultTrainingConfig,
  FINALIZER,
  planDeletion,
  type PlannedStatus,
  planRejection,
  planTraining,
  trackedRun,
  type TrainingConfig,
  type TrainingPlan,
} from '../plan/training/index.ts'
import {
  type Commit,
  committer,
  type Controller,
  hasFinalizer,
  type Manager,
  type ObjectChange,
  type ReconcileContext,
  removeFinalizer,
  type Result,
} from '../runtime/index.ts'
import { readClaimEvent } from './claim-event.ts'
import { factsOf, gatherTraining, type ReadLog } from './gather-training.ts'
import { readLogTail } from './log-tail.ts'
import type { GpuUtilization } from './gpu-utilization.ts'
import { reportFailures } from './error-boundary.ts'
import { ProgressWatch } from './progress-watch.ts'
import { NODE } from './node-cache.ts'
import { readReference } from './quota-reference.ts'
import { CLAIM, claimKey, jobKeys, OUTPUT, trainingCaches, type TrainingCaches } from './training-caches.ts'
import { addTrainingGauges } from './training-gauges.ts'
import { HistoryStore } from './training-history.ts'
import { liveMembers } from './training-members.ts'
import { TrainingMetrics } from './training-metrics.ts'
import { forgetEnded, type TrainingReports } from './training-reports.ts'

export interface TrainingOptions {
  /** One namespace or several instead of all. */
  readonly namespace?: string | readonly string[]
  readonly concurrency?: number
  /** Interval at which every job is reconciled without an event. */
  readonly resyncMs?: number
  /** How often to ask for kinds that the cluster does not serve. */
  readonly discoveryMs?: number
  readonly config?: Partial<TrainingConfig>
  /** Number of jobs that have metrics of their own; by default 10,000. */
  readonly maxMetricObjects?: number
  /** Replaces reading logs from the API server. */
  readonly readLog?: ReadLog
  /** Progress reports of pods. Default: there are none. */
  readonly reports?: TrainingReports
  /** Default: the utilization of GPUs is not known. */
  readonly gpuUsage?: GpuUtilization
  /** Tracks jobs in MLflow. Default: the operator has no server. */
  readonly tracker?: Tracker
  /** Replaces the planner. */
  readonly planner?: typeof planTraining
}

/** Fields of the status whose changes are logged. */
const HIGHLIGHTS = [
  'state',
  'attempts',
  'restarts',
  'failures',
  'worldSize',
] as const satisfies readonly (keyof PlannedStatus)[]

interface Deps {
  readonly manager: Manager
  readonly caches: TrainingCaches
  readonly commit: Commit
  readonly config: TrainingConfig
  readonly metrics: TrainingMetrics
  readonly planner: typeof planTraining
  readonly progressWatch: ProgressWatch
  readonly slowWatch: ProgressWatch
  readonly readLog?: ReadLog
  readonly reports?: TrainingReports
  readonly gpuUsage?: GpuUtilization
  readonly tracker?: Tracker
  readonly history?: HistoryStore
}

export function addTrainingController(manager: Manager, options: TrainingOptions = {}): Controller {
  const deps = depsOf(manager, options)
  const { caches, metrics, reports, tracker, history, gpuUsage, progressWatch, slowWatch } = deps
  for (const memory of [progressWatch, slowWatch, reports, gpuUsage])
    if (memory) caches.jobs.onChange(forgetEnded(memory))
  if (tracker) reports?.onEach((uid, report) => tracker.note(uid, report))
  if (history) caches.jobs.onChange(history.onJob)
  if (history) caches.configMaps.onChange(history.onConfigMap)
  addTrainingGauges({
    registry: manager.metrics.registry,
    list: () => caches.jobs.list(),
    isLeading: () => manager.isLeading,
    maxObjects: options.maxMetricObjects,
  })
  const builder = manager
    .controller('trainingjob')
    .for(caches.jobs)
    .watches(caches.pods, jobKeys)
    .watches(caches.nodes, ({ metadata }) => caches.pods.byIndex(NODE, metadata.name).flatMap(jobKeys), {
      when: readinessChanged,
    })
    .watches(caches.claims, (claim) => caches.jobs.byIndex(CLAIM, claimKey(keyOf(claim))).map(keyOf))
    .watches(caches.models, (model) => caches.jobs.byIndex(OUTPUT, claimKey(keyOf(model))).map(keyOf))
    .owns(caches.workloads)
    .owns(caches.services)
    .owns(caches.configMaps)
    .signals((wake) => reports?.onReport(wake))
    .signals((wake) => tracker?.onProgress(wake))
    .signals((wake) => gpuUsage?.onRead(wake))
  for (const cache of caches.groups) builder.owns(cache)
  return builder.reconcile((key, context) => reconcile(caches.jobs.get(key), deps, context), {
    onReconciled: metrics.reconciled,
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    ...(options.resyncMs !== undefined && { resyncMs: options.resyncMs }),
  })
}

function depsOf(manager: Manager, options: TrainingOptions): Deps {
  const config = { ...defaultTrainingConfig, ...options.config }
  const { recorder, clock, metrics } = manager
  const { readLog, reports, tracker, gpuUsage, planner = planTraining } = options
  return {
    manager,
    caches: trainingCaches(manager.caches, options),
    commit: committer({ caches: manager.caches, recorder, clock, metrics, unread: [Secret], highlights: HIGHLIGHTS }),
    config,
    metrics: new TrainingMetrics(metrics.registry),
    planner,
    progressWatch: new ProgressWatch(clock),
    slowWatch: new ProgressWatch(clock),
    ...(readLog && { readLog }),
    ...(reports && { reports }),
    ...(gpuUsage && { gpuUsage }),
    ...(tracker && { tracker }),
    ...(config.history.enabled && { history: new HistoryStore() }),
  }
}

async function reconcile(job: TrainingJob | undefined, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!job || isManagedByOthers(job)) return {}
  deps.tracker?.follow(job.metadata.uid ?? '', trackedRun(job))
  if (job.metadata.deletionTimestamp === undefined) return isPaused(job) ? {} : advance(job, deps, context)
  const { recorder } = deps.manager
  return reportFailures(() => finalize(job, deps, context), { object: job, recorder })
}

/** One step of the lifecycle of a job that is not being deleted. */
async function advance(job: TrainingJob, deps: Deps, context: ReconcileContext): Promise<Result> {
  const { recorder } = deps.manager
  const current = await reportFailures(() => accepted(job, deps, context), { object: job, recorder })
  const observed = await reportFailures(() => gather(current, deps, context), { object: job, recorder })
  const commit = async (plan: TrainingPlan): Promise<Result> => {
    const result = await deps.commit<PlannedStatus>(current, plan, context)
    deps.metrics.noted(keyOf(current), current.status, plan.status)
    return result
  }
  return reportFailures(() => commit(deps.planner(observed)), {
    object: current,
    recorder,
    // Pods that were created before the rejected write may not be in the cache yet.
    record: async (rejection) =>
      commit(planRejection({ ...observed, ...(await liveMembers(context)(current)) }, rejection)),
  })
}

/** The job after its acceptance is recorded, which precedes every other write for it. */
async function accepted(
  job: TrainingJob,
  { metrics }: Deps,
  { client, signal }: ReconcileContext,
): Promise<TrainingJob> {
  const acceptance = acceptanceOf(job)
  if (!acceptance) return job
  const { uid, resourceVersion } = job.metadata
  const metadata = { uid, resourceVersion, ...acceptance }
  const current = await client.patch(trainingJobs, keyOf(job), { metadata }, { signal })
  if (!hasFinalizer(job, FINALIZER)) metrics.accepted(keyOf(job))
  return current
}

/** One step of the deletion of the job. The finalizer is removed last, when nothing of the job is left. */
async function finalize(job: TrainingJob, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!hasFinalizer(job, FINALIZER)) return {}
  const observed = await gather(job, deps, context)
  const commit = async ({ done, cost, ...plan }: DeletionPlan): Promise<Result> => {
    const result = await deps.commit(job, plan, context)
    if (done) await removeFinalizer(job, finalizer(context))
    deps.metrics.spent(keyOf(job), job.status?.cost, done ? cost : plan.status?.cost)
    return result
  }
  try {
    return await commit(planDeletion(observed))
  } catch (error) {
    if (!(error instanceof ApiError && hasCause(error, 'NamespaceTerminating'))) throw error
    return commit(planDeletion(observed, { isHopeless: true }))
  }
}

function finalizer({ client, signal }: ReconcileContext) {
  return { client, signal, resource: trainingJobs, name: FINALIZER }
}

function gather(job: TrainingJob, deps: Deps, context: ReconcileContext) {
  const { manager, caches, config, progressWatch, slowWatch, readLog, reports, tracker, gpuUsage, history } = deps
  return gatherTraining(job, {
    progressWatch,
    slowWatch,
    caches,
    config,
    now: manager.clock.now(),
    readLog: readLog ?? readLogTail(context),
    readClaimEvent: readClaimEvent(context),
    readMembers: liveMembers(context),
    readReference: readReference(context),
    ...(reports && { reports }),
    ...(gpuUsage && { gpuUsage }),
    ...(tracker && { tracker }),
    ...(history && { history }),
  })
}

/** A node was added, removed, or changed its readiness. Heartbeats are ignored. */
function readinessChanged(change: ObjectChange<Node>): boolean {
  return change.type !== 'update' || factsOf(change.object).ready !== factsOf(change.previous).ready
}
