/**
 * Kinds are watched by connections of their own, so what happened to two of them is seen in any order. But all share one
 * sequence of versions: a rule about several kinds is put to everything once more at rest, in the order of the store.
 */
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import type { Oracle, Sighting, World } from './witness.ts'

export function inOrder({ name, see }: Required<Pick<Oracle, 'name' | 'see'>>): Oracle & Pick<Required<Oracle>, 'see'> {
  const history: Sighting[] = []
  return {
    name,
    see: (sighting) => {
      history.push(sighting)
      return undefined
    },
    atRest: () => {
      const past = new Past()
      return history.toSorted(byVersion).flatMap((sighting) => {
        past.apply(sighting)
        return see(sighting, past) ?? []
      })
    },
  }
}

function byVersion({ object: one }: Sighting, { object: other }: Sighting): number {
  const difference = BigInt(one.metadata.resourceVersion ?? 0) - BigInt(other.metadata.resourceVersion ?? 0)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** The world as it was. */
class Past implements World {
  readonly #objects = new Map<string, KubeObject>()

  apply({ type, object }: Sighting): void {
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
