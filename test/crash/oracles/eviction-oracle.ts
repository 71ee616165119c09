/** Evictions of the pods of a model. */
import type { KubeObject } from '../../../src/kube/object.ts'
import { Pod } from '../../../src/kube/resources.ts'
import { servingRoleOf, versionOf } from '../../builders/model-deployment.ts'
import type { Oracle } from './oracle.ts'
import { isPod, isServed, modelOf } from './serving-objects.ts'
import { inStoreOrder } from './store-order.ts'

/** S8: a server is evicted only if the status records it, and never the last ready one of its version. */
export function evictions(): Oracle {
  const seen = new Set<string>()
  return inStoreOrder({
    name: 'S8',
    onChange: ({ object }, cluster) => {
      if (!isEvicted(object) || seen.has(object.metadata.uid ?? '')) return undefined
      seen.add(object.metadata.uid ?? '')
      const { name, uid } = object.metadata
      const versions = modelOf(object, cluster)?.status?.activeVersions ?? []
      if (!versions.some(({ health }) => health?.evicting?.uid === uid)) return `${name} was evicted but not recorded`
      const others = cluster.list(Pod).filter(({ metadata }) => metadata.uid !== uid)
      return isServed(versionOf(object) ?? '', others) ? undefined : `${name} was evicted as the last ready pod`
    },
  })
}

/** The API server marks the pod before it deletes it. */
function isEvicted(object: KubeObject): object is Pod {
  if (!isPod(object) || servingRoleOf(object) !== 'server') return false
  return object.status?.conditions?.some(({ reason }) => reason === 'EvictionByEvictionAPI') ?? false
}
