/**
 * Watches a namespace on connections of its own and passes every change to the oracles, in the order of the server for each
 * kind. It sees what was stored, not what the operator under test believes it has written.
 */
import type { KubeObject, Resource } from '../../../src/kube/object.ts'
import type { WatchUpdate } from '../../../src/kube/watch.ts'
import type { SharedWatches } from '../harness/shared-watches.ts'
import type { ClusterHistory, ObservedChange, Oracle } from './oracle.ts'

/** A ConfigMap that the controller manager creates in every namespace. */
export const ROOT_CA = 'kube-root-ca.crt'

/** Kinds that the cluster derives from others. They can be listed, but are not children of the object under test. */
const DERIVED: ReadonlySet<string> = new Set(['EndpointSlice'])

export class Observer implements ClusterHistory {
  readonly changes: ObservedChange[] = []
  readonly violations: string[] = []
  /** `Kind/name` → how often it was created and deleted. */
  readonly tally = new Map<string, { created: number; deleted: number }>()
  readonly #objects = new Map<string, KubeObject>()
  readonly #oracles: readonly Oracle[]
  #unsubscribe: () => void = () => undefined

  constructor(oracles: readonly Oracle[]) {
    this.#oracles = oracles
  }

  /** Watches a namespace that has no objects of these kinds yet. */
  async watch(watches: SharedWatches, namespace: string, kinds: readonly Resource[]): Promise<void> {
    this.#unsubscribe = await watches.subscribe(namespace, kinds, (update, kind) => {
      for (const change of this.#changes(update, kind)) this.#observe(change)
    })
  }

  list<T extends KubeObject>({ kind }: Resource<T>): readonly T[] {
    return this.everything().filter((object) => object.kind === kind) as T[]
  }

  all(): readonly KubeObject[] {
    return this.everything().filter(({ kind }) => !DERIVED.has(kind))
  }

  /** All existing objects, including derived kinds. */
  everything(): readonly KubeObject[] {
    return [...this.#objects.values()]
  }

  /** All violations, including those of the converged cluster. Call it once, after convergence. */
  judge(): readonly string[] {
    for (const { name, atRest } of this.#oracles)
      this.violations.push(...(atRest?.(this) ?? []).map((violation) => `${name}: ${violation}`))
    return this.violations
  }

  stop(): void {
    this.#unsubscribe()
  }

  #changes(update: WatchUpdate<KubeObject>, kind: string): ObservedChange[] {
    if (update.type === 'bookmark') return []
    if (update.type === 'delete') return [{ type: 'deleted', object: update.object }]
    if (update.type === 'apply') return [this.#change(update.object)]
    const listed = new Set(update.items.map(({ metadata }) => metadata.uid))
    const gone = this.everything().filter((object) => object.kind === kind && !listed.has(object.metadata.uid))
    return [
      ...gone.map((object): ObservedChange => ({ type: 'deleted', object })),
      ...update.items.map((item) => this.#change(item)),
    ]
  }

  #change(object: KubeObject): ObservedChange {
    const previous = this.#objects.get(object.metadata.uid ?? '')
    return previous ? { type: 'changed', object, previous } : { type: 'created', object }
  }

  #observe(change: ObservedChange): void {
    const { type, object } = change
    if (object.metadata.name === ROOT_CA) return
    this.changes.push(change)
    const uid = object.metadata.uid ?? ''
    if (type === 'deleted') this.#objects.delete(uid)
    else this.#objects.set(uid, object)
    this.#count(change)
    for (const { name, onChange } of this.#oracles) {
      const violation = onChange?.(change, this)
      if (violation !== undefined) this.violations.push(`${name}: ${violation}`)
    }
  }

  #count({ type, object }: ObservedChange): void {
    if (type === 'changed' || DERIVED.has(object.kind)) return
    const id = nameOf(object)
    const count = this.tally.get(id) ?? { created: 0, deleted: 0 }
    count[type] += 1
    this.tally.set(id, count)
  }
}

/** `Kind/name`, the same in every run: generated names are reduced to `generateName`, without template hashes. */
export function nameOf({ kind, metadata }: KubeObject): string {
  const name = metadata.generateName === undefined ? metadata.name : `${metadata.generateName}*`
  const digest = metadata.labels?.['pod-template-hash']
  return `${kind}/${digest === undefined ? name : name.replace(digest, '<digest>')}`
}
