/** A version as it is seen: what the spec says of it, and what is there. */
import type { ActiveVersion } from '../../api/modeldeployment-parts.ts'
import type { Deployment, Pod } from '../../kube/resources.ts'
import { ROLE_LABEL, soleAutoscalerName, soleDeploymentName, VERSION_LABEL, versionedName } from '../model-names.ts'
import type { ServingObserved } from './observed.ts'
import type { ServedModel, ServedVersion } from './served-model.ts'

export interface Version {
  readonly name: string
  /** Absent for one that the spec no longer has. */
  readonly wanted?: ServedVersion
  readonly deployment?: Deployment
  readonly deploymentName: string
  readonly autoscalerName: string
  /** Its servers, without those on their way out. */
  readonly pods: readonly Pod[]
  /** What the status says of it. */
  readonly known?: ActiveVersion
}

/** Those of the spec in its order, then those that are leaving. */
export function versionsOf(observed: ServingObserved, model: ServedModel): readonly Version[] {
  const wanted = new Map(model.versions.map((version) => [version.name, version]))
  const present = [...observed.deployments, ...observed.services].flatMap(versionIn)
  const names = [...new Set([...wanted.keys(), ...present.toSorted()])]
  const isAlone = names.length === 1
  return names.map((name) => {
    const version = wanted.get(name)
    const known = observed.model.status?.activeVersions?.find((active) => active.name === name)
    const deployment = deploymentOf(observed, name)
    const isSole = deployment ? deployment.metadata.name === soleDeploymentName(model) : isAlone
    return {
      name,
      ...(version && { wanted: version }),
      ...(known && { known }),
      ...(deployment && { deployment }),
      deploymentName: isSole ? soleDeploymentName(model) : versionedName(model, name),
      autoscalerName: isSole ? soleAutoscalerName(model) : versionedName(model, name),
      pods: observed.pods.filter((pod) => versionIn(pod).includes(name) && isServer(pod)),
    }
  })
}

function versionIn({ metadata }: Pick<Pod, 'metadata'>): string[] {
  const name = metadata.labels?.[VERSION_LABEL]
  return name === undefined ? [] : [name]
}

const isServer = ({ metadata }: Pod): boolean =>
  metadata.labels?.[ROLE_LABEL] === 'server' && metadata.deletionTimestamp === undefined

/** One that is on its way out counts only as long as there is no other. */
function deploymentOf({ deployments }: ServingObserved, version: string): Deployment | undefined {
  const own = deployments.filter((deployment) => versionIn(deployment).includes(version))
  return own.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? own[0]
}

const isGoing = ({ deployment }: Version): boolean => deployment?.metadata.deletionTimestamp !== undefined

/** Pods that can take requests, without those that are on their way out because fewer have been asked for since. */
export function availableOf(version: Version): number {
  const available = version.deployment?.status?.availableReplicas ?? 0
  return isGoing(version) ? 0 : Math.min(available, replicasOf(version))
}

export const isReady = (version: Version): boolean => availableOf(version) > 0

/** Pods that there should be: what its Deployment was last told, by us or by an autoscaler. */
export const replicasOf = ({ deployment }: Version): number => (deployment ? (deployment.spec?.replicas ?? 1) : 0)

/** The Deployment has not yet brought all its pods to what it was last told. */
export function isRolling({ deployment }: Version): boolean {
  const { replicas = 0, updatedReplicas = 0, observedGeneration = 0 } = deployment?.status ?? {}
  return updatedReplicas < replicas || observedGeneration < (deployment?.metadata.generation ?? 0)
}
