/**
 * A Kubernetes client on raw JSON: objects come and go exactly as the server writes them, times stay strings, unknown
 * fields survive. Calls share kept-alive connections, are repeated in one place (`sender.ts`) when that is harmless,
 * and can be seen and changed by interceptors. The client sets no pace of its own: the server says when to wait.
 */
import { text } from 'node:stream/consumers'
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
import { ConnectionError, isNotFound } from './errors.ts'
import type { Interceptor, Response } from './interceptor.ts'
import { lines } from './lines.ts'
import { apiVersionOf } from './object.ts'
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
import { Sender } from './sender.ts'
import type { Intent, Limits } from './sender.ts'
import { Transport } from './transport.ts'

export type * from './options.ts'

export interface Client {
  readonly server: string
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: GetOptions): Promise<T>
  /** Everything, gathered page by page. */
  list<T extends KubeObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }>
  /** One page at a time: for collections too big to hold, or to parse without a pause. */
  pages<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): AsyncIterable<Page<T>>
  /** AlreadyExists may mean that this very call made the object and its first reply was lost. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** Replaces the whole object, if it still has the resourceVersion given. */
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** A JSON merge patch; with `metadata.resourceVersion` inside, only if unchanged since. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    mergePatch: unknown,
    options?: WriteOptions,
  ): Promise<T>
  /** Server-side apply: creates, or changes the fields given and drops those we gave before and no longer do. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyOptions): Promise<T>
  /** Resolves when the object is gone already. A uid or resourceVersion that does not match is a Conflict. */
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void>
  /** Like `delete`, but asks the disruption budgets first: TooManyRequests when they say not now. */
  evict(pod: ObjectKey, options?: DeleteOptions): Promise<void>
  logs(pod: ObjectKey, options?: LogOptions): Promise<string>
  /** Line by line. */
  streamLogs(pod: ObjectKey, options?: StreamLogOptions): AsyncIterable<string>
  /** One watch request, raw, never repeated: for a watch that heals itself see `watch.ts`. */
  openWatch<T extends KubeObject>(resource: Resource<T>, options?: RawWatchOptions): AsyncIterable<RawWatchEvent<T>>
  /** Anything else. JSON answers come parsed, others as text. */
  request(call: RawCall, options?: CallOptions): Promise<unknown>
  /** Ends every connection; calls under way fail. */
  close(): Promise<void>
}

export interface ClientOptions {
  /** Shown in the server's logs and audit. */
  readonly userAgent?: string
  /** Owner of the fields we write. */
  readonly fieldManager?: string
  /** Around every HTTP attempt, the first one outermost. */
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
      const page = { items: (items ?? []).map(typed(resource)), resourceVersion: metadata.resourceVersion }
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

  async *openWatch<T extends KubeObject>(
    resource: Resource<T>,
    options: RawWatchOptions = {},
  ): AsyncGenerator<RawWatchEvent<T>, void, undefined> {
    const call = watchCall(resource, options)
    for await (const line of this.#lines(call, { ...options, retry: false })) {
      yield parsed(call, line) as RawWatchEvent<T>
    }
  }

  async request(call: RawCall, options: CallOptions = {}): Promise<unknown> {
    const intent = rawCall(call)
    const { headers, body } = await this.#sender.send(intent, options)
    const answer = await bodyText(body)
    return String(headers['content-type']).includes('json') ? parsed(intent, answer) : answer
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  #owned<O extends WriteOptions>(options: O): O & { readonly fieldManager: string } {
    return { ...options, fieldManager: options.fieldManager ?? this.#fieldManager }
  }

  async #json<T>(intent: Intent, limits: Limits): Promise<T> {
    return parsed(intent, await this.#text(intent, limits)) as T
  }

  async #text(intent: Intent, limits: Limits): Promise<string> {
    const { body } = await this.#sender.send(intent, limits)
    return bodyText(body)
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

async function bodyText(body: Response['body']): Promise<string> {
  return typeof body === 'string' ? body : text(body)
}

/** Something in between answered in the server's place, or the end of the answer is missing. */
function parsed(intent: Intent, answer: string): unknown {
  try {
    return JSON.parse(answer)
  } catch (error) {
    throw new ConnectionError(intent, error)
  }
}

interface RawList<T> {
  readonly items?: readonly T[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

/** The server leaves apiVersion and kind out of listed built-in objects; with them, listed and watched look the same. */
function typed<T extends KubeObject>(resource: Resource<T>): (item: T) => T {
  const apiVersion = apiVersionOf(resource)
  const { kind } = resource
  return (item) => Object.assign({ apiVersion, kind }, item)
}
