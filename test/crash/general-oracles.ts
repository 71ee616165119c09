/** What must hold whatever the program under test is for. */
import type { KubeObject } from '../../src/kube/object.ts'
import type { Oracle } from './witness.ts'

/** G1: nothing is left that belongs to somebody who is no more. */
const noOrphans: Oracle = {
  name: 'G1',
  atRest: (world) => {
    const living = new Set(world.all().map(({ metadata }) => metadata.uid))
    const isOrphan = ({ metadata }: KubeObject): boolean =>
      metadata.ownerReferences?.some(({ uid }) => !living.has(uid)) ?? false
    return world
      .all()
      .filter(isOrphan)
      .map((object) => `${object.kind}/${object.metadata.name} outlives its owner`)
  },
}

export const generalOracles: readonly Oracle[] = [noOrphans]
