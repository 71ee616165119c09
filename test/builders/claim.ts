import type { KubeObject } from '../../src/kube/object.ts'
import { PersistentVolumeClaim } from '../../src/kube/resources.ts'

/** A claim of a user, to be created in a namespace. */
export const claim = (name: string) => ({
  resource: PersistentVolumeClaim,
  object: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
  } as KubeObject,
})
