/**
 * Decoy objects: they look like children of the object under test but belong to another owner. For the first child of each
 * kind that the operator observes, there is a copy without an owner in the same namespace, and one with the same owner in
 * another namespace. Decoy pods have failed, decoy Deployments are available. Decoys exist only in list and watch responses:
 * a write to one is a violation, and counting one leads to a state that the oracles reject. A TrainingJob without an owner is no
 * decoy of a schedule's run: it is a job of its own, and the operator runs it.
 */
import { trainingJobs } from '../../../src/api/kinds.ts'
import type { Call, Interceptor, Response } from '../../../src/kube/interceptor.ts'
import { lines } from '../../../src/kube/lines.ts'
import type { KubeObject } from '../../../src/kube/object.ts'

export const DECOY = 'decoy-'
const OTHER_NAMESPACE = 'decoys'

interface ChildObject extends KubeObject {
  readonly spec?: object
  readonly status?: object
}

export const isDecoy = ({ metadata }: KubeObject): boolean => metadata.name.startsWith(DECOY)

export class Decoys {
  /** By plural: the uid of the original, and its copies. */
  readonly #byKind = new Map<string, { readonly uid: string; copies: readonly ChildObject[] }>()

  readonly interceptor: Interceptor = async (call, next) => {
    const response = await next(call)
    if (response.status >= 300 || !isWatched(call)) return response
    if (typeof response.body !== 'string') return { ...response, body: this.#stream(response.body, call) }
    if (call.verb !== 'list') return response
    const list = JSON.parse(response.body) as { readonly items?: readonly ChildObject[] | null }
    const items = list.items ?? []
    for (const item of items) this.#copies(item, call)
    const copies = this.#byKind.get(call.resource?.plural ?? '')?.copies ?? []
    return { ...response, body: JSON.stringify({ ...list, items: [...items, ...copies] }) }
  }

  /** A copy precedes the event of its original and has an older resourceVersion, so the watch accepts both. */
  async *#stream(body: Exclude<Response['body'], string>, call: Call): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const line of lines(body)) {
      const event = /^\{"type":"(ADDED|MODIFIED)"/.test(line) ? (JSON.parse(line) as WatchLine) : undefined
      for (const object of event ? this.#copies(event.object, call) : [])
        yield Buffer.from(`${JSON.stringify({ type: event?.type, object })}\n`)
      yield Buffer.from(`${line}\n`)
    }
  }

  /** The copies of this object, if it is the one that is copied. */
  #copies(object: ChildObject, { resource }: Call): readonly ChildObject[] {
    const { uid = '', ownerReferences = [] } = object.metadata
    const plural = resource?.plural ?? ''
    if (ownerReferences.length === 0 || isDecoy(object) || plural === trainingJobs.plural) return []
    const known = this.#byKind.get(plural)
    if (known && known.uid !== uid) return []
    const copies = copiesOf(object)
    this.#byKind.set(plural, { uid, copies })
    return copies
  }
}

interface WatchLine {
  readonly type: string
  readonly object: ChildObject
}

const isWatched = ({ verb, resource, namespace }: Call): boolean =>
  (verb === 'watch' || verb === 'list') && resource?.namespaced === true && namespace !== undefined

function copiesOf(object: ChildObject): ChildObject[] {
  const { ownerReferences, finalizers: _, ...metadata } = object.metadata
  const uid = metadata.uid ?? ''
  const common = { ...metadata, resourceVersion: String(BigInt(metadata.resourceVersion ?? '1') - 1n) }
  const status = statusOf(object)
  const name = `${DECOY}${metadata.name}`
  return [
    { ...object, ...status, metadata: { ...common, name, uid: `${uid}-here` } },
    {
      ...object,
      ...status,
      metadata: {
        ...common,
        name,
        uid: `${uid}-there`,
        namespace: OTHER_NAMESPACE,
        ...(ownerReferences && { ownerReferences }),
      },
    },
  ]
}

function statusOf({ kind, status, spec }: ChildObject): { readonly status?: object } {
  if (kind === 'Pod') return { status: { ...status, phase: 'Failed', conditions: [], containerStatuses: [] } }
  if (kind !== 'Deployment') return status ? { status } : {}
  const { replicas = 1 } = spec as { readonly replicas?: number }
  const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas }
  return { status: { ...status, ...counts } }
}
