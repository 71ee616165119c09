/**
 * Watches a namespace with connections of its own, and puts every change before the oracles, in the order in which the
 * server made it for each kind. It sees what was written, not what the program under test believes to have written.
 */
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { watch, type WatchUpdate } from '../../src/kube/watch.ts'

export interface Sighting {
  readonly type: 'created' | 'changed' | 'deleted'
  readonly object: KubeObject
  readonly previous?: KubeObject
}

export interface World {
  /** Everything of a kind that is there now. */
  list<T extends KubeObject>(resource: Resource<T>): readonly T[]
  /** Everything, of all kinds. */
  all(): readonly KubeObject[]
}

/** The server puts it into every namespace; it is nobody's. */
export const EVERYWHERE = 'kube-root-ca.crt'

/** A rule that holds at every moment, and perhaps more strictly at the end. Keeps state, so each run gets its own. */
export interface Oracle {
  readonly name: string
  /** What is wrong after this change, if anything. */
  readonly see?: (sighting: Sighting, world: World) => string | undefined
  /** What is wrong when everything has come to rest. */
  readonly atRest?: (world: World) => readonly string[]
}

export class Witness implements World {
  readonly violations: string[] = []
  /** `Kind/name` → how often it was created and deleted. */
  readonly tally = new Map<string, { created: number; deleted: number }>()
  readonly #objects = new Map<string, KubeObject>()
  readonly #oracles: readonly Oracle[]
  readonly #stop = new AbortController()
  readonly #ended: Promise<unknown>

  constructor(client: Client, namespace: string, kinds: readonly Resource[], oracles: readonly Oracle[]) {
    this.#oracles = oracles
    this.#ended = Promise.all(kinds.map((kind) => this.#follow(client, namespace, kind)))
  }

  list<T extends KubeObject>({ kind }: Resource<T>): readonly T[] {
    return this.all().filter((object) => object.kind === kind) as T[]
  }

  all(): readonly KubeObject[] {
    return [...this.#objects.values()]
  }

  /** The judgement at rest; call it when nothing moves any more. */
  judge(): readonly string[] {
    for (const { name, atRest } of this.#oracles)
      this.violations.push(...(atRest?.(this) ?? []).map((violation) => `${name}: ${violation}`))
    return this.violations
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #follow(client: Client, namespace: string, resource: Resource): Promise<void> {
    for await (const update of watch(client, resource, { namespace, signal: this.#stop.signal }))
      for (const sighting of this.#sightings(update, resource.kind)) this.#see(sighting)
  }

  #sightings(update: WatchUpdate<KubeObject>, kind: string): Sighting[] {
    if (update.type === 'bookmark') return []
    if (update.type === 'delete') return [{ type: 'deleted', object: update.object }]
    if (update.type === 'apply') return [this.#sighting(update.object)]
    const listed = new Set(update.items.map(({ metadata }) => metadata.uid))
    const gone = this.all().filter((object) => object.kind === kind && !listed.has(object.metadata.uid))
    return [
      ...gone.map((object): Sighting => ({ type: 'deleted', object })),
      ...update.items.map((item) => this.#sighting(item)),
    ]
  }

  #sighting(object: KubeObject): Sighting {
    const previous = this.#objects.get(object.metadata.uid ?? '')
    return previous ? { type: 'changed', object, previous } : { type: 'created', object }
  }

  #see(sighting: Sighting): void {
    const { type, object } = sighting
    if (object.metadata.name === EVERYWHERE) return
    const uid = object.metadata.uid ?? ''
    if (type === 'deleted') this.#objects.delete(uid)
    else this.#objects.set(uid, object)
    this.#count(sighting)
    for (const { name, see } of this.#oracles) {
      const violation = see?.(sighting, this)
      if (violation !== undefined) this.violations.push(`${name}: ${violation}`)
    }
  }

  #count({ type, object }: Sighting): void {
    if (type === 'changed') return
    const id = nameOf(object)
    const count = this.tally.get(id) ?? { created: 0, deleted: 0 }
    count[type] += 1
    this.tally.set(id, count)
  }
}

/** `Kind/name`; where the server chose the name, what it was given to choose from, but for digests of what it was told. */
export function nameOf({ kind, metadata }: KubeObject): string {
  const name = metadata.generateName === undefined ? metadata.name : `${metadata.generateName}*`
  const digest = metadata.labels?.['pod-template-hash']
  return `${kind}/${digest === undefined ? name : name.replace(digest, '<digest>')}`
}
