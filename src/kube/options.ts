/** What each verb of the client may be told. `client.ts` gives these out again; import them from there. */
import type { Status } from './errors.ts'
import type { Method } from './interceptor.ts'
import type { KubeObject } from './object.ts'
import type { Query } from './path.ts'

export interface CallOptions {
  /** Gives up at once; the call throws the signal's reason. */
  readonly signal?: AbortSignal
  /** For the whole call, retries included; for a list, per page. Default 60 s. */
  readonly timeoutMs?: number
}

export interface GetOptions extends CallOptions {
  readonly subresource?: string
}

export interface Selection {
  /** All namespaces when absent. */
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
  /** Who owns the written fields; the client's own name when absent. */
  readonly fieldManager?: string
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that belong to another manager instead of failing with a conflict. */
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  /** Only this very object: one of the same name made since is left alone (Conflict). */
  readonly uid?: string
  /** Only if unchanged since. */
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
  /** Keep reading as the container writes, until it ends or the signal aborts. */
  readonly follow?: boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  readonly continue?: string
}

export interface RawWatchOptions extends Selection {
  readonly signal?: AbortSignal
  /** How long the server may take to begin answering. */
  readonly timeoutMs?: number
  /** Events after this version; with `sendInitialEvents`, at least this fresh. */
  readonly resourceVersion?: string
  /** After how long the server ends the watch by itself. */
  readonly timeoutSeconds?: number
  /** Begin with everything there is, then a bookmark annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean
}

export interface Bookmark {
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> }
}

export type RawWatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: Bookmark }
  | { readonly type: 'ERROR'; readonly object: Status }

/** A request outside the resource model: discovery, health, OpenAPI, an aggregated API. */
export interface RawCall {
  readonly method: Method
  /** Without the query. */
  readonly path: string
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  readonly contentType?: string
}
