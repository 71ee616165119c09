/** The claim that fetched models are kept on, where the spec asks for one. It goes with the model: it holds copies only. */
import { PersistentVolumeClaim } from '../../kube/resources.ts'
import { child } from './child.ts'
import { cacheClaimName } from '../model-names.ts'
import type { ServedModel } from './served-model.ts'

export function cacheClaims(model: ServedModel): PersistentVolumeClaim[] {
  const { size, storageClass, accessMode = 'ReadWriteMany' } = model.storage ?? {}
  if (size === undefined) return []
  return [
    {
      ...child(model, PersistentVolumeClaim, cacheClaimName(model)),
      spec: {
        accessModes: [accessMode],
        ...(storageClass !== undefined && { storageClassName: storageClass }),
        resources: { requests: { storage: String(size) } },
      },
    },
  ]
}
