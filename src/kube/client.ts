/**
 * A Kubernetes client on raw JSON: objects stay exactly as the server writes them, times are strings, unknown fields
 * survive a round trip. Calls share kept-alive connections, are retried in one place (`sender.ts`) if that is safe, and
 * pass through interceptors. There is no client-side rate limit: the server says when to wait.
 */
import {
  applyCall,
  createCall,
  deleteCall,
  evictCall,
  getCall,
  listCall,
  logCall,
  patchCall,
  rawCall,
  updateCall,
  watchCall,
} from './calls.ts'
import type { ClientConfig } from './client-config.ts'
import { isNotFound } from './errors.ts'
import type { Interceptor } from './interceptor.ts'
import { lines } from './lines.ts'
import type { KubeObject, ObjectKey, Resource } from './object.ts'
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  Page,
  RawCall,
  RawWatchEvent,
  RawWatchOptions,
  StreamLogOptions,
  WriteOptions,
} from './options.ts'
import { parseJson, parseWatchEvent, type RawList, readText, withKind } from './response-body.ts'
import { Sender } from './sender.ts'
import type { Intent, Limits } from './sender.ts'
import { Transport } from './transport.ts'

export type * from './options.ts'

export interface Client {
  readonly server: string
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: GetOptions): Promise<T>
  /** All objects, collected page by page. */
  list<T extends KubeObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }>
  /** One page at a time: for collections too large to hold in memory or to parse at once. */
  pages<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncIterable<Page<T>>
  /** AlreadyExists may mean that this very call created the object and its first response was lost. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** Replaces the whole object if it still has the given resourceVersion. */
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** A JSON merge patch. With `metadata.resourceVersion` in it, fails if the object has changed since. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    mergePatch: unknown,
    options?: WriteOptions,
  ): Promise<T>
  /** Server-side apply: creates the object, or sets the given fields and removes those that were applied before. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyOptions): Promise<T>
  /** Succeeds if the object is already gone. Fails with Conflict if uid or resourceVersion does not match. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void>
  /** Like `delete`, but respects PodDisruptionBudgets: fails with TooManyRequests if they do not allow it now. */
  evict(pod: ObjectKey, options?: DeleteOptions): Promise<void>
  logs(pod: ObjectKey, options?: LogOptions): Promise<string>
  /** Line by line. */
  streamLogs(pod: ObjectKey, options?: StreamLogOptions): AsyncIterable<string>
  /** As bytes, for readers that limit the length of lines. Never retried. */
  streamLogBytes(pod: ObjectKey, options?: StreamLogOptions): AsyncIterable<Uint8Array>
  /** One raw watch request, never retried. For a watch that reconnects, see `watch.ts`. */
  openWatch<T extends KubeObject>(resource: Resource<T>, options?: RawWatchOptions): AsyncIterable<RawWatchEvent<T>>
  /** Any other request. Returns parsed JSON, or text for other content types. */
  request(call: RawCall, options?: CallOptions): Promise<unknown>
  /** Closes all connections. Running calls fail. */
  close(): Promise<void>
}

export interface ClientOptions {
  /** Appears in the server's logs and audit events. */
  readonly userAgent?: string
  /** Field manager of all writes. */
  readonly fieldManager?: string
  /** Wrapped around every HTTP attempt, the first one outermost. */
  readonly interceptors?: readonly Interceptor[]
}

const PAGE_SIZE = 500

export function createClient(config: ClientConfig, options: ClientOptions = {}): Client {
  return new HttpClient(config, options)
}

class HttpClient implements Client {
  readonly server: string
  readonly #fieldManager: string
  readonly #transport: Transport
  readonly #sender: Sender

  constructor(
    config: ClientConfig,
    { userAgent = 'ml-operator', fieldManager = 'ml-operator', interceptors = [] }: ClientOptions,
  ) {
    this.server = config.server
    this.#fieldManager = fieldManager
    this.#transport = new Transport(config, userAgent)
    this.#sender = new Sender({
      send: (call, credential) => this.#transport.send(call, credential),
      credentials: config.credentials,
      interceptors,
    })
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    return this.#json(getCall(resource, key, options.subresource), options)
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    const items: T[] = []
    let resourceVersion = ''
    for await (const page of this.pages(resource, options)) {
      items.push(...page.items)
      resourceVersion = page.resourceVersion
    }
    return { items, resourceVersion }
  }

  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<Page<T>, void, undefined> {
    const paged = { limit: PAGE_SIZE, ...options }
    let token: string | undefined
    do {
      const { items, metadata } = await this.#json<RawList<T>>(listCall(resource, paged, token), options)
      token = metadata.continue || undefined
      const page = { items: (items ?? []).map(withKind(resource)), resourceVersion: metadata.resourceVersion }
      yield token === undefined ? page : { ...page, continue: token }
    } while (token !== undefined)
  }

  create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#json(createCall(resource, object, this.#owned(options)), options)
  }

  update<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#json(updateCall(resource, object, this.#owned(options)), options)
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    mergePatch: unknown,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#json(patchCall(resource, key, mergePatch, this.#owned(options)), options)
  }

  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions = {}): Promise<T> {
    return this.#json(applyCall(resource, object, this.#owned(options)), options)
  }

  delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    return this.#untilGone(deleteCall(resource, key, options), options)
  }

  evict(pod: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    return this.#untilGone(evictCall(pod, options), options)
  }

  logs(pod: ObjectKey, options: LogOptions = {}): Promise<string> {
    return this.#text(logCall(pod, options, false), options)
  }

  async *streamLogs(pod: ObjectKey, options: StreamLogOptions = {}): AsyncGenerator<string, void, undefined> {
    yield* this.#lines(logCall(pod, options, true), options)
  }

  async *streamLogBytes(pod: ObjectKey, options: StreamLogOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const { body } = await this.#sender.send(logCall(pod, options, true), { ...options, retry: false })
    yield* typeof body === 'string' ? [Buffer.from(body)] : body
  }

  async *openWatch<T extends KubeObject>(
    resource: Resource<T>,
    options: RawWatchOptions = {},
  ): AsyncGenerator<RawWatchEvent<T>, void, undefined> {
    const call = watchCall(resource, options)
    for await (const line of this.#lines(call, { ...options, retry: false })) yield parseWatchEvent<T>(call, line)
  }

  async request(call: RawCall, options: CallOptions = {}): Promise<unknown> {
    const intent = rawCall(call)
    const { headers, body } = await this.#sender.send(intent, options)
    const content = await readText(body)
    return String(headers['content-type']).includes('json') ? parseJson(intent, content) : content
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  #owned<O extends WriteOptions>(options: O): O & { readonly fieldManager: string } {
    return { ...options, fieldManager: options.fieldManager ?? this.#fieldManager }
  }

  async #json<T>(intent: Intent, limits: Limits): Promise<T> {
    return parseJson(intent, await this.#text(intent, limits)) as T
  }

  async #text(intent: Intent, limits: Limits): Promise<string> {
    const { body } = await this.#sender.send(intent, limits)
    return readText(body)
  }

  async *#lines(intent: Intent, limits: Limits): AsyncGenerator<string, void, undefined> {
    const { body } = await this.#sender.send(intent, limits)
    yield* lines(typeof body === 'string' ? [Buffer.from(body)] : body)
  }

  async #untilGone(intent: Intent, limits: Limits): Promise<void> {
    try {
      await this.#text(intent, limits)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
