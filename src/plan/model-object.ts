/** How every object of a model begins. */
import { apiVersionOf, type KubeObject, type Resource } from '../kube/object.ts'

interface Place {
  readonly namespace?: string | undefined
  readonly labels: Readonly<Record<string, string>>
}

export function modelObject({ namespace, labels }: Place, resource: Resource, name: string): KubeObject {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), labels },
  }
}
