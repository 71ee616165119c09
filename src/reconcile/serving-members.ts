/**
 * Which objects belong to a model. Anyone can set a label to the model's uid, in any namespace, so the controller reference
 * decides, within one namespace: the garbage collector deletes objects whose reference is wrong.
 *
 * ReplicaSets are not cached: a pod's Deployment follows from the name of its ReplicaSet and the hash in its labels. A pod
 * that names the uid of another ReplicaSet is soon garbage collected.
 */
import type { KubeObject } from '../kube/object.ts'
import type { Deployment, Job, Pod } from '../kube/resources.ts'
import { MODEL_UID_LABEL } from '../plan/model-names.ts'
import type { Model } from '../plan/serving/index.ts'
import { type Cache, deploymentOf, isControlledBy, isSelectedBy } from '../runtime/index.ts'

export function childrenOf<T extends KubeObject>(model: Model, cache: Cache<T>): T[] {
  const { uid = '' } = model.metadata
  return cache.byLabel(MODEL_UID_LABEL, uid).filter((object) => isControlledBy(object, model))
}

/** The parents are children of the model. */
export interface Parents {
  readonly deployments: readonly Deployment[]
  readonly jobs: readonly Job[]
}

export function podsOf(model: Model, pods: Cache<Pod>, { deployments, jobs }: Parents): Pod[] {
  const { uid = '' } = model.metadata
  return pods
    .byLabel(MODEL_UID_LABEL, uid)
    .filter(
      (pod) =>
        deployments.some((deployment) => isPodOf(pod, deployment)) || jobs.some((job) => isControlledBy(pod, job)),
    )
}

export function isPodOf(pod: Pod, deployment: Deployment): boolean {
  const { name, namespace } = deployment.metadata
  return pod.metadata.namespace === namespace && deploymentOf(pod)?.name === name && isSelectedBy(pod, deployment)
}
