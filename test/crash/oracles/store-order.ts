/**
 * Each kind has its own watch, so changes of two kinds are observed in any order. All kinds share one sequence of
 * resourceVersions: an oracle about several kinds therefore judges all changes at the end, in the order of the store.
 */
import type { KubeObject, Resource } from '../../../src/kube/object.ts'
import type { Oracle, ObservedChange, ClusterView } from './oracle.ts'

type ChangeOracle = Oracle & Required<Pick<Oracle, 'onChange'>>

export function inStoreOrder({ name, onChange }: Pick<ChangeOracle, 'name' | 'onChange'>): ChangeOracle {
  const history: ObservedChange[] = []
  return {
    name,
    onChange: (change) => {
      history.push(change)
      return undefined
    },
    atRest: () => {
      const past = new PastState()
      return history.toSorted(byVersion).flatMap((change) => {
        past.apply(change)
        return onChange(change, past) ?? []
      })
    },
  }
}

function byVersion({ object: one }: ObservedChange, { object: other }: ObservedChange): number {
  const difference = BigInt(one.metadata.resourceVersion ?? 0) - BigInt(other.metadata.resourceVersion ?? 0)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** The state after the changes that were applied so far. */
class PastState implements ClusterView {
  readonly #objects = new Map<string, KubeObject>()

  apply({ type, object }: ObservedChange): void {
    const { uid = '' } = object.metadata
    if (type === 'deleted') this.#objects.delete(uid)
    else this.#objects.set(uid, object)
  }

  list<T extends KubeObject>({ kind }: Resource<T>): readonly T[] {
    return this.all().filter((object) => object.kind === kind) as T[]
  }

  all(): readonly KubeObject[] {
    return [...this.#objects.values()]
  }
}
