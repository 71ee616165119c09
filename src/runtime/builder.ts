/** Builds a controller: which kinds it watches, and which keys to queue when an object changes. */
import { isDeepStrictEqual } from 'node:util'
import { controllerOf, keyOf, keyString, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import { Cache, type CacheEvent } from './cache.ts'
import type { Caches, KindOptions } from './caches.ts'
import { Controller, type ControllerDeps, type ControllerOptions, type Reconciler } from './controller.ts'
import type { ObjectChange } from './store.ts'
import type { Wake, WorkQueue } from './workqueue.ts'

export interface SourceOptions<T extends KubeObject> {
  /** Ignores changes for which it returns false. Default: no change is ignored. */
  readonly when?: (change: ObjectChange<T>) => boolean
  /** Options of the cache; only at the first use of the kind. */
  readonly cache?: KindOptions<T>
}

/** A kind with one cache, or one of several caches of a kind. */
export type KindOrCache<T extends KubeObject> = Resource<T> | Cache<T>

/** The keys to queue when this object changes. Called for the object before and after a change. */
export type Mapping<T extends KubeObject> = (object: T) => readonly ObjectKey[]

export interface BuilderDeps extends Omit<ControllerDeps, 'reconciler' | 'primary'> {
  readonly caches: Pick<Caches, 'of'>
}

export class ControllerBuilder<P extends KubeObject = KubeObject> {
  readonly #deps: BuilderDeps
  readonly #register: (controller: Controller) => void
  #primary: Cache<P> | undefined

  constructor(deps: BuilderDeps, register: (controller: Controller) => void) {
    this.#deps = deps
    this.#register = register
  }

  /** The kind that is reconciled: a change of an object queues its own key. */
  for<T extends KubeObject>(source: KindOrCache<T>, options: SourceOptions<T> = {}): ControllerBuilder<T> {
    const self = this as unknown as ControllerBuilder<T>
    self.#primary = self.#source(source, options, { mapping: (object) => [keyOf(object)], wake: wakeOfPrimary })
    return self
  }

  /** A kind that the primary kind controls: a change queues the key of the controlling owner. */
  owns<T extends KubeObject>(source: KindOrCache<T>, options: SourceOptions<T> = {}): this {
    const primary: Resource = this.#requirePrimary().resource
    this.#source(source, options, { mapping: (object) => controllerKeys(object, primary), wake: shortens })
    return this
  }

  /** Any other kind: a change queues the keys of the mapping. */
  watches<T extends KubeObject>(source: KindOrCache<T>, mapping: Mapping<T>, options: SourceOptions<T> = {}): this {
    this.#source(source, options, { mapping, wake: shortens })
    return this
  }

  /** Anything but a kind: `subscribe` gets a function that queues a key. It does not end the backoff of a key. */
  signals(subscribe: (wake: (key: ObjectKey) => void) => void): this {
    const { queue } = this.#deps
    subscribe((key) => queue.add(key, 'user', 'waits'))
    return this
  }

  /** Completes the controller; the manager runs it. */
  reconcile(reconciler: Reconciler, options: ControllerOptions = {}): Controller {
    const primary = this.#requirePrimary() as unknown as Cache
    const controller = new Controller({ ...this.#deps, primary, reconciler }, options)
    this.#register(controller)
    return controller
  }

  #requirePrimary(): Cache<P> {
    if (!this.#primary) throw new Error(`controller ${this.#deps.name}: call for() first`)
    return this.#primary
  }

  #source<T extends KubeObject>(source: KindOrCache<T>, options: SourceOptions<T>, trigger: Trigger<T>): Cache<T> {
    const { caches, queue, metrics, log, name } = this.#deps
    const cache = source instanceof Cache ? source : caches.of(source, options.cache)
    const { kind } = cache.resource
    cache.onChange((event) => {
      try {
        enqueue(queue, event, options, trigger)
      } catch (error) {
        metrics.mappingFailed(name, kind)
        log.error({ err: error, controller: name, kind, ...keyOf(event.object) }, 'a mapping or filter failed')
      }
    })
    cache.onServed(() => {
      for (const object of this.#primary?.list() ?? []) queue.add(keyOf(object), 'background', 'shortens')
    })
    return cache
  }
}

/** Which keys a change queues, and its effect on their backoff. */
interface Trigger<T extends KubeObject> {
  readonly mapping: Mapping<T>
  readonly wake: (change: ObjectChange<T>) => Wake
}

const shortens = (): Wake => 'shortens'

/** A change of the status does not end the backoff: reconciles write it themselves. */
function wakeOfPrimary(change: ObjectChange<KubeObject>): Wake {
  return change.type === 'update' && isSameSpec(change.object, change.previous) ? 'waits' : 'ends'
}

/** Compares everything but the status. The generation stands for the spec if the kind has one. */
function isSameSpec(one: KubeObject, other: KubeObject): boolean {
  if (one.metadata.generation !== other.metadata.generation) return false
  const withoutStatus = (object: KubeObject): unknown => {
    const metadata = { ...object.metadata, resourceVersion: undefined }
    return object.metadata.generation === undefined ? { ...object, metadata, status: undefined } : metadata
  }
  return isDeepStrictEqual(withoutStatus(one), withoutStatus(other))
}

function enqueue<T extends KubeObject>(
  queue: WorkQueue,
  event: CacheEvent<T>,
  { when }: SourceOptions<T>,
  { mapping, wake }: Trigger<T>,
): void {
  if (when && !when(event)) return
  const priority = event.initial ? 'background' : 'user'
  const effect = wake(event)
  const keys = [...mapping(event.object), ...(event.type === 'update' ? mapping(event.previous) : [])]
  // Each key once: if a worker has taken it meanwhile, adding it again would cause a second reconcile.
  for (const key of new Map(keys.map((one) => [keyString(one), one])).values()) queue.add(key, priority, effect)
}

function controllerKeys(object: KubeObject, { kind, group, namespaced }: Resource): ObjectKey[] {
  const owner = controllerOf(object)
  if (owner?.kind !== kind || groupOf(owner.apiVersion) !== group) return []
  const { namespace } = object.metadata
  return [namespaced && namespace !== undefined ? { namespace, name: owner.name } : { name: owner.name }]
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : ''
}
