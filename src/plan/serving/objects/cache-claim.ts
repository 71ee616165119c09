/** The claim that caches fetched models, if the spec has one. It is deleted with the model: it holds only copies. */
import { PersistentVolumeClaim } from '../../../kube/resources.ts'
import { child } from './child.ts'
import { cacheClaimName } from '../../model-names.ts'
import type { ServedModel } from '../observe/served-model.ts'

export function cacheClaims(model: ServedModel): PersistentVolumeClaim[] {
  const { size, storageClass, accessMode = 'ReadWriteMany' } = model.storage ?? {}
  if (size === undefined) return []
  return [
    {
      ...child(model, PersistentVolumeClaim, cacheClaimName(model), { component: 'storage' }),
      spec: {
        accessModes: [accessMode],
        ...(storageClass !== undefined && { storageClassName: storageClass }),
        resources: { requests: { storage: String(size) } },
      },
    },
  ]
}
