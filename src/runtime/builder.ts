/** Wires a controller: which kinds it watches, and which keys a change of each concerns. */
import { keyOf, type KubeObject, type ObjectKey, type Resource } from '../kube/object.ts'
import { Cache, type CacheEvent } from './cache.ts'
import type { Caches, KindOptions } from './caches.ts'
import { Controller, type ControllerDeps, type ControllerOptions, type Reconciler } from './controller.ts'
import type { Change } from './store.ts'
import type { WorkQueue } from './workqueue.ts'

export interface WatchOptions<T extends KubeObject> {
  /** Passes over changes that concern nobody. Without it every change counts. */
  readonly when?: (change: Change<T>) => boolean
  /** How to cache the kind; only where it is mentioned first. */
  readonly cache?: KindOptions<T>
}

/** A kind, of which there is one cache, or the cache that is meant. */
export type Source<T extends KubeObject> = Resource<T> | Cache<T>

/** The keys that a change of this object concerns. Asked about the object before and after a change. */
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

  /** The kind that the keys name: every change of an object queues its own key. */
  for<T extends KubeObject>(source: Source<T>, options: WatchOptions<T> = {}): ControllerBuilder<T> {
    const self = this as unknown as ControllerBuilder<T>
    self.#primary = self.#source(source, options, (object) => [keyOf(object)])
    return self
  }

  /** A kind that the primary controls: a change queues the key of the controlling owner. */
  owns<T extends KubeObject>(source: Source<T>, options: WatchOptions<T> = {}): this {
    const primary: Resource = this.#requirePrimary().resource
    this.#source(source, options, (object) => controllerKeys(object, primary))
    return this
  }

  /** Any other kind: the mapping says whom a change concerns. */
  watches<T extends KubeObject>(source: Source<T>, mapping: Mapping<T>, options: WatchOptions<T> = {}): this {
    this.#source(source, options, mapping)
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
    if (!this.#primary) throw new Error(`controller ${this.#deps.name}: say what it is for() first`)
    return this.#primary
  }

  #source<T extends KubeObject>(source: Source<T>, options: WatchOptions<T>, mapping: Mapping<T>): Cache<T> {
    const { caches, queue, metrics, log, name } = this.#deps
    const cache = source instanceof Cache ? source : caches.of(source, options.cache)
    const { kind } = cache.resource
    cache.onChange((event) => {
      try {
        enqueue(queue, event, options, mapping)
      } catch (error) {
        metrics.mappingFailed(name, kind)
        log.error({ err: error, controller: name, kind, ...keyOf(event.object) }, 'a mapping threw')
      }
    })
    cache.onServed(() => {
      for (const object of this.#primary?.list() ?? []) queue.add(keyOf(object), 'background')
    })
    return cache
  }
}

function enqueue<T extends KubeObject>(
  queue: WorkQueue,
  event: CacheEvent<T>,
  { when }: WatchOptions<T>,
  mapping: Mapping<T>,
): void {
  if (when && !when(event)) return
  const priority = event.initial ? 'background' : 'user'
  for (const key of mapping(event.object)) queue.add(key, priority)
  if (event.type === 'update') for (const key of mapping(event.previous)) queue.add(key, priority)
}

function controllerKeys(object: KubeObject, { kind, group, namespaced }: Resource): ObjectKey[] {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.controller)
  if (owner?.kind !== kind || groupOf(owner.apiVersion) !== group) return []
  const { namespace } = object.metadata
  return [namespaced && namespace !== undefined ? { namespace, name: owner.name } : { name: owner.name }]
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : ''
}
