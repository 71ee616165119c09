/**
 * The training controller: gather → plan → commit, for one TrainingJob at a time. Decisions are in src/plan/training; here
 * is what is watched, and what happens when a write is rejected.
 */
import { trainingJobs } from '../api/kinds.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { keyOf } from '../kube/object.ts'
import { type Node, Secret } from '../kube/resources.ts'
import {
  acceptanceOf,
  defaultTrainingConfig,
  FINALIZER,
  planDeletion,
  type PlannedStatus,
  planRejection,
  planTraining,
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
import { reportFailures } from './error-boundary.ts'
import { CLAIM, claimKey, jobKeys, NODE, trainingCaches, type TrainingCaches } from './training-caches.ts'
import { liveMembers } from './training-members.ts'

export interface TrainingOptions {
  /** One namespace or several instead of all. */
  readonly namespace?: string | readonly string[]
  readonly concurrency?: number
  /** Interval at which every job is reconciled without an event. */
  readonly resyncMs?: number
  readonly config?: Partial<TrainingConfig>
  /** Replaces reading logs from the API server. */
  readonly readLog?: ReadLog
  /** Replaces the planner. */
  readonly planner?: typeof planTraining
}

interface Deps {
  readonly manager: Manager
  readonly caches: TrainingCaches
  readonly commit: Commit
  readonly config: TrainingConfig
  readonly planner: typeof planTraining
  readonly readLog?: ReadLog
}

export function addTrainingController(manager: Manager, options: TrainingOptions = {}): Controller {
  const config = { ...defaultTrainingConfig, ...options.config }
  const caches = trainingCaches(manager.caches, config.gpuResource, options.namespace)
  const { recorder, clock, metrics } = manager
  const commit = committer({ caches: manager.caches, recorder, clock, metrics, unread: [Secret] })
  const { readLog, planner = planTraining } = options
  const deps: Deps = { manager, caches, commit, config, planner, ...(readLog && { readLog }) }
  return manager
    .controller('trainingjob')
    .for(caches.jobs)
    .watches(caches.pods, jobKeys)
    .watches(caches.nodes, ({ metadata }) => caches.pods.byIndex(NODE, metadata.name).flatMap(jobKeys), {
      when: readinessChanged,
    })
    .watches(caches.claims, (claim) => caches.jobs.byIndex(CLAIM, claimKey(keyOf(claim))).map(keyOf))
    .owns(caches.workloads)
    .owns(caches.services)
    .owns(caches.configMaps)
    .reconcile((key, context) => reconcile(caches.jobs.get(key), deps, context), {
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      ...(options.resyncMs !== undefined && { resyncMs: options.resyncMs }),
    })
}

async function reconcile(job: TrainingJob | undefined, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!job) return {}
  if (job.metadata.deletionTimestamp === undefined) return advance(job, deps, context)
  const { recorder } = deps.manager
  return reportFailures(() => finalize(job, deps, context), { object: job, recorder })
}

/** One step of the lifecycle of a job that is not being deleted. */
async function advance(job: TrainingJob, deps: Deps, context: ReconcileContext): Promise<Result> {
  const { recorder } = deps.manager
  const current = await reportFailures(() => accepted(job, context), { object: job, recorder })
  const observed = await reportFailures(() => gather(current, deps, context), { object: job, recorder })
  const commit = (plan: TrainingPlan) => deps.commit<PlannedStatus>(current, plan, context)
  return reportFailures(() => commit(deps.planner(observed)), {
    object: current,
    recorder,
    // Pods that were created before the rejected write may not be in the cache yet.
    record: async (rejection) =>
      commit(planRejection({ ...observed, ...(await liveMembers(context)(current)) }, rejection)),
  })
}

/** The job after its acceptance is recorded, which precedes every other write for it. */
async function accepted(job: TrainingJob, { client, signal }: ReconcileContext): Promise<TrainingJob> {
  const acceptance = acceptanceOf(job)
  if (!acceptance) return job
  const { uid, resourceVersion } = job.metadata
  return client.patch(trainingJobs, keyOf(job), { metadata: { uid, resourceVersion, ...acceptance } }, { signal })
}

/** One step of the deletion of the job. The finalizer is removed last, when nothing of the job is left. */
async function finalize(job: TrainingJob, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!hasFinalizer(job, FINALIZER)) return {}
  const { done, ...plan } = planDeletion(await gather(job, deps, context))
  const result = await deps.commit(job, plan, context)
  if (done) await removeFinalizer(job, finalizer(context))
  return result
}

function finalizer({ client, signal }: ReconcileContext) {
  return { client, signal, resource: trainingJobs, name: FINALIZER }
}

function gather(job: TrainingJob, { manager, caches, config, readLog }: Deps, context: ReconcileContext) {
  return gatherTraining(job, {
    caches,
    config,
    now: manager.clock.now(),
    readLog: readLog ?? readLogTail(context),
    readClaimEvent: readClaimEvent(context),
    readMembers: liveMembers(context),
  })
}

/** A node was added, removed, or changed its readiness. Heartbeats are ignored. */
function readinessChanged(change: ObjectChange<Node>): boolean {
  return change.type !== 'update' || factsOf(change.object).ready !== factsOf(change.previous).ready
}
