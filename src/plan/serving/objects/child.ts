import type { KubeObject, Resource } from '../../../kube/object.ts'
import { type ModelComponent, modelLabels, VERSION_LABEL } from '../../model-names.ts'
import { modelObject } from '../../model-object.ts'
import type { ServedModel } from '../observe/served-model.ts'

interface Purpose {
  readonly component: ModelComponent
  /** Of an object that belongs to one version. */
  readonly version?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** A child of the model, without its spec. */
export function child(model: ServedModel, resource: Resource, name: string, purpose: Purpose): KubeObject {
  const { component, version, labels: more } = purpose
  const { namespace } = model.metadata
  const ofVersion = version !== undefined && { [VERSION_LABEL]: version }
  const labels = { ...modelLabels(model, component, version), ...ofVersion, ...more }
  return modelObject({ namespace, labels }, resource, name)
}
