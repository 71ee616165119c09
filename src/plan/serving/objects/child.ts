import type { KubeObject, Resource } from '../../../kube/object.ts'
import { modelLabels } from '../../model-names.ts'
import { modelObject } from '../../model-object.ts'
import type { ServedModel } from '../observe/served-model.ts'

/** A child of the model, without its spec. */
export function child(
  model: ServedModel,
  resource: Resource,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  const { namespace } = model.metadata
  return modelObject({ namespace, labels: { ...modelLabels(model), ...labels } }, resource, name)
}
