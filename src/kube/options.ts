/** The options of the client's verbs. Import them from `client.ts`, which re-exports them. */
import type { Status } from './errors.ts'
import type { Method } from './interceptor.ts'
import type { KubeObject } from './object.ts'
import type { Query } from './path.ts'

export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal
  /** For the whole call, retries included; for a list, per page. Default 60 s. */
  readonly timeoutMs?: number
}

export interface GetOptions extends CallOptions {
  readonly subresource?: string
}

export interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ListOptions extends CallOptions, Selection {
  /** Objects per page, default 500. */
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: string
  readonly dryRun?: boolean
  /** The owner of the written fields. Default: that of the client. */
  readonly fieldManager?: string
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other managers instead of failing with a conflict. */
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Precondition: fails with Conflict for a newer object of the same name. */
  readonly uid?: string
  /** Precondition: fails with Conflict if the object has changed since. */
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
}

export interface LogOptions extends CallOptions {
  readonly container?: string
  readonly tailLines?: number
  readonly previous?: boolean
  readonly sinceTime?: string
  readonly timestamps?: boolean
  readonly limitBytes?: number
}

export interface StreamLogOptions extends LogOptions {
  /** Follows the log until the container ends or the signal aborts. */
  readonly follow?: boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  readonly continue?: string
}

export interface RawWatchOptions extends Selection {
  readonly signal?: AbortSignal
  /** Until the response begins. */
  readonly timeoutMs?: number
  /** Events after this version. With `sendInitialEvents`, the initial state is at least this new. */
  readonly resourceVersion?: string
  /** The server ends the watch after this time. */
  readonly timeoutSeconds?: number
  /** Starts with all existing objects, followed by a bookmark annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean
}

export interface Bookmark {
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> }
}

export type RawWatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: Bookmark }
  | { readonly type: 'ERROR'; readonly object: Status }

/** A request to a path of no resource: discovery, health, OpenAPI, an aggregated API. */
export interface RawCall {
  readonly method: Method
  /** Without the query. */
  readonly path: string
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  readonly contentType?: string
}
