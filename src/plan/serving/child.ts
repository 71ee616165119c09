/** How every object of a model begins. */
import { apiVersionOf, type KubeObject, type Resource } from '../../kube/object.ts'
import { modelLabels } from '../model-names.ts'
import type { ServedModel } from './served-model.ts'

export function child(
  model: ServedModel,
  resource: Resource,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  const { namespace } = model.metadata
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { ...modelLabels(model), ...labels },
    },
  }
}
