/**
 * A controller-runtime for TypeScript: everything between a Kubernetes client and a reconcile function. It knows nothing
 * of what is reconciled. docs/runtime.md walks through it.
 */
export { type BackoffPolicy, backoffMs, defaultBackoff } from './backoff.ts'
export { ControllerBuilder, type Mapping, type WatchOptions } from './builder.ts'
export { Cache, type CacheEvent, type Write } from './cache.ts'
export { Caches, type KindOptions } from './caches.ts'
export { type Clock, sleep, systemClock, timestamp } from './clock.ts'
export { type Commit, committer, type CommitResult, type Owner } from './commit.ts'
export {
  Controller,
  type ControllerOptions,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from './controller.ts'
export { classify, type ErrorClass, type ErrorCode, errorCatalogue, type RetryPolicy, RuntimeError } from './errors.ts'
export { EventRecorder, type Recorder } from './events.ts'
export type { EventNote, Plan } from '../kube/plan.ts'
export { ensureFinalizer, finalize, type FinalizerState, hasFinalizer, removeFinalizer } from './finalizer.ts'
export { Health } from './health.ts'
export { type LeaderElection, LeaderElector } from './leader.ts'
export { createLogger, type Logger, type LogLevel } from './log.ts'
export { Manager, type ManagerOptions } from './manager.ts'
export { RuntimeMetrics } from './metrics.ts'
export { controllerReference, deploymentOf, isControlledBy, isSelectedBy } from './ownership.ts'
export { type RunningServer, serve } from './server.ts'
export { type Condition, mergePatch } from './status.ts'
export type { Change } from './store.ts'
export { type Priority, type WorkItem, WorkQueue } from './workqueue.ts'
