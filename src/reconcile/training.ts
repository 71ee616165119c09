/**
 * The training controller: gather → plan → commit, for one TrainingJob at a time. What a job needs is decided in
 * src/plan/training; here is only who is asked, what is watched, and what happens when a write is refused.
 */
import { trainingJobs } from '../api/kinds.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import { type Node, Secret } from '../kube/resources.ts'
import { acceptanceOf } from '../plan/training/acceptance.ts'
import { defaultTrainingConfig, type TrainingConfig } from '../plan/training/config.ts'
import { FINALIZER } from '../plan/training/names.ts'
import { planDeletion, planRefusal, planTraining } from '../plan/training/plan.ts'
import type { PlannedStatus } from '../plan/training/status.ts'
import {
  type Change,
  type Commit,
  committer,
  type Controller,
  hasFinalizer,
  type Manager,
  type ReconcileContext,
  removeFinalizer,
  type Result,
} from '../runtime/index.ts'
import { factsOf, gatherTraining, type ReadLog } from './gather-training.ts'
import { readLogTail } from './log-tail.ts'
import { isRefusal, tellFailure } from './refusal.ts'
import { liveMembers } from './training-members.ts'
import { CLAIM, claimKey, jobKeys, NODE, trainingCaches, type TrainingCaches } from './training-caches.ts'

export interface TrainingOptions {
  /** One namespace instead of all. */
  readonly namespace?: string
  readonly concurrency?: number
  /** How often every job is looked at without a reason. */
  readonly resyncMs?: number
  readonly config?: Partial<TrainingConfig>
  /** Instead of asking the API server for logs. */
  readonly readLog?: ReadLog
  /** Instead of the planner. */
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
  const commit = committer({ caches: manager.caches, recorder, clock, metrics, unseen: [Secret] })
  const { readLog, planner = planTraining } = options
  const deps: Deps = { manager, caches, commit, config, planner, ...(readLog && { readLog }) }
  return manager
    .controller('trainingjob')
    .for(caches.jobs)
    .watches(caches.pods, jobKeys)
    .watches(caches.nodes, ({ metadata }) => caches.pods.byIndex(NODE, metadata.name).flatMap(jobKeys), {
      when: nodeTurned,
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
  try {
    return await (job.metadata.deletionTimestamp === undefined ? advance(job, deps, context) : end(job, deps, context))
  } catch (error) {
    tellFailure(job, deps.manager.recorder, error)
    throw error
  }
}

/** One step along the life of the job. */
async function advance(job: TrainingJob, deps: Deps, context: ReconcileContext): Promise<Result> {
  const current = await accepted(job, context)
  const observed = await gather(current, deps, context)
  try {
    return await deps.commit<PlannedStatus>(current, deps.planner(observed), context)
  } catch (error) {
    if (isRefusal(error)) await deps.commit<PlannedStatus>(current, planRefusal(observed, error.message), context)
    throw error
  }
}

/** The job with everything on record that has to be there before anything is made for it. */
async function accepted(job: TrainingJob, { client, signal }: ReconcileContext): Promise<TrainingJob> {
  const acceptance = acceptanceOf(job)
  if (!acceptance) return job
  const { uid, resourceVersion } = job.metadata
  return client.patch(trainingJobs, keyOf(job), { metadata: { uid, resourceVersion, ...acceptance } }, { signal })
}

/**
 * One step towards its end. The finalizer goes last, when nothing is left that would be left behind. What the garbage
 * collector would see to in its own time goes here: a job created again under the name finds every name free.
 */
async function end(job: TrainingJob, deps: Deps, context: ReconcileContext): Promise<Result> {
  if (!hasFinalizer(job, FINALIZER)) return {}
  const { done, ...plan } = planDeletion(await gather(job, deps, context))
  const prune = done ? [...plan.prune, ...leftovers(job, deps.caches)] : plan.prune
  const result = await deps.commit(job, { ...plan, prune }, context)
  if (done) await removeFinalizer(job, finalizer(context))
  return result
}

function leftovers({ metadata: { uid = '' } }: TrainingJob, { services, configMaps }: TrainingCaches): KubeObject[] {
  return [...services.ownedBy(uid), ...configMaps.ownedBy(uid)]
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
    readMembers: liveMembers(context),
  })
}

/** A node came, went, or changed its mind about being ready; its heartbeats concern nobody. */
function nodeTurned(change: Change<Node>): boolean {
  return change.type !== 'update' || factsOf(change.object).ready !== factsOf(change.previous).ready
}
