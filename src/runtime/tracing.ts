import type { Interceptor } from '../kube/interceptor.ts'
import type { ObjectKey } from '../kube/object.ts'
import type { Ended } from './controller.ts'

/** What a trace says about a reconcile. */
export interface TracedReconcile extends ObjectKey {
  readonly controller: string
  readonly kind: string
  readonly reconcileId: string
}

/** The span of one reconcile. */
export interface ReconcileSpan {
  /** In the lines of the reconcile, to find its trace. */
  readonly traceId: string
  /** Calls to the API server that `work` makes become children of the span. */
  run<T>(work: () => Promise<T>): Promise<T>
  end(ended: Pick<Ended, 'outcome' | 'code'>): void
}

/** Traces of reconciles and of their calls. The runtime itself has no tracing library. */
export interface Tracing {
  reconcile(fields: TracedReconcile): ReconcileSpan
  /** Install it in the client. */
  readonly interceptor: Interceptor
}
