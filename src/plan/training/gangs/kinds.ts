/** PodGroups: every product has its own kind of this name. */
import type { KubeObject, Resource } from '../../../kube/object.ts'

export interface PodGroup<Spec = object> extends KubeObject {
  readonly spec: Spec
}

export const podGroups = <Spec>(group: string, version: string): Resource<PodGroup<Spec>> => ({
  group,
  version,
  kind: 'PodGroup',
  plural: 'podgroups',
  namespaced: true,
})
