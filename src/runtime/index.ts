/**
 * A controller-runtime for TypeScript: everything between a Kubernetes client and a reconcile function. It knows nothing
 * about the kinds that are reconciled. See docs/runtime.md.
 */
export { type BackoffPolicy, backoffMs, defaultBackoff, spread } from './backoff.ts'
export { ControllerBuilder, type Mapping, type SourceOptions } from './builder.ts'
export { Cache, type CacheEvent, type Write } from './cache.ts'
export { Caches, type KindOptions } from './caches.ts'
export type { Exclusive } from './foreign-fields.ts'
export { type Clock, pause, systemClock } from './clock.ts'
export { type Commit, committer, type CommitResult, type Owner } from './commit.ts'
export {
  Controller,
  type ControllerOptions,
  type Ended,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from './controller.ts'
export { type Classification, classify, type ErrorCode, errorCatalogue, RuntimeError } from './errors.ts'
export { EventRecorder, type Recorder } from './events.ts'
export { type Deletion, type EventNote, type Plan, type PlannedWrite, toDelete, toWrite } from '../decision/plan.ts'
export { hasFinalizer, removeFinalizer } from './finalizer.ts'
export { Health } from './health.ts'
export { type LeaderElection, LeaderElector } from './leader.ts'
export { LabelLimit } from './label-limit.ts'
export { type GaugeDescription, LazyGauge, type ReadSamples } from './lazy-gauge.ts'
export { createLogger, type Logger, type LogLevel } from './log.ts'
export { Manager, type ManagerOptions } from './manager.ts'
export { type Authorize, metricsAccess } from './metrics-access.ts'
export { RuntimeMetrics } from './metrics.ts'
export { NameConflict } from './name-conflict.ts'
export { controllerReference, deploymentOf, isControlledBy, isSelectedBy } from './ownership.ts'
export { type ReviewedUser, type ReviewLimits, Reviews, ReviewsBusy } from './reviews.ts'
export { type RunningServer, serve } from './server.ts'
export { type Condition, mergePatch } from './status.ts'
export { TokenBuckets } from './token-buckets.ts'
export type { ReconcileSpan, TracedReconcile, Tracing } from './tracing.ts'
export type { ObjectChange } from './store.ts'
export { type Priority, type WorkItem, WorkQueue } from './workqueue.ts'
