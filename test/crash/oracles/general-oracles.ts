/** Oracles for any operator. */
import type { KubeObject } from '../../../src/kube/object.ts'
import { isDeepStrictEqual } from 'node:util'
import type { ClusterView, Oracle, ObservedChange } from './oracle.ts'

/** G1: no object outlives its owner. */
const noOrphans: Oracle = {
  name: 'G1',
  atRest: (cluster) => orphansIn(cluster).map(({ kind, metadata }) => `${kind}/${metadata.name} outlives its owner`),
}

/** Objects with an owner that does not exist. */
export function orphansIn(cluster: ClusterView): readonly KubeObject[] {
  const existing = new Set(cluster.all().map(({ metadata }) => metadata.uid))
  const isOrphan = ({ metadata }: KubeObject): boolean =>
    metadata.ownerReferences?.some(({ uid }) => !existing.has(uid)) ?? false
  return cluster.all().filter(isOrphan)
}

/** Far more than any step of a scenario needs, far fewer than a loop makes. */
const MOST_STATUS_WRITES = 30

/** G2: a status is not written over and over while nothing else changes, converged or not. */
function boundedStatusWrites(): Oracle {
  let writing: string | undefined
  let writes = 0
  return {
    name: 'G2',
    onChange: (change) => {
      const { uid = '', name } = change.object.metadata
      const isRepeated = isStatusWrite(change) && uid === writing
      writing = isStatusWrite(change) ? uid : undefined
      writes = isRepeated ? writes + 1 : 1
      if (writes !== MOST_STATUS_WRITES) return undefined
      return `the status of ${change.object.kind}/${name} was written ${writes} times while nothing else changed`
    },
  }
}

function isStatusWrite({ type, object, previous }: ObservedChange): boolean {
  if (type !== 'changed' || !previous) return false
  const withoutStatus = (one: KubeObject): unknown => ({
    ...one,
    metadata: { ...one.metadata, resourceVersion: undefined, managedFields: undefined },
    status: undefined,
  })
  return isDeepStrictEqual(withoutStatus(object), withoutStatus(previous))
}

/** New instances for each run, because oracles keep state. */
export const generalOracles = (): readonly Oracle[] => [noOrphans, boundedStatusWrites()]
