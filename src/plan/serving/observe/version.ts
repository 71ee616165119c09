/** A version: its part of the spec, and what was observed of it. */
import type { ActiveVersion } from '../../../api/serving-status.ts'
import type { Deployment, Pod } from '../../../kube/resources.ts'
import { ROLE_LABEL, soleAutoscalerName, soleDeploymentName, VERSION_LABEL, versionedName } from '../../model-names.ts'
import type { ServingObserved } from './observed.ts'
import type { ServedModel, ServedVersion } from './served-model.ts'

export interface Version {
  readonly name: string
  /** Absent if the spec no longer has it. */
  readonly wanted?: ServedVersion
  readonly deployment?: Deployment
  readonly deploymentName: string
  readonly autoscalerName: string
  /** Its server pods, without terminating ones. */
  readonly pods: readonly Pod[]
  /** Its entry in the status. */
  readonly recorded?: ActiveVersion
}

/** A version of the spec. */
export interface WantedVersion extends Version {
  readonly wanted: ServedVersion
}

export const isWanted = (version: Version): version is WantedVersion => version.wanted !== undefined

/** Those of the spec in its order, then those that the spec no longer has. */
export function versionsOf(observed: ServingObserved, model: ServedModel): readonly Version[] {
  const wanted = new Map(model.versions.map((version) => [version.name, version]))
  const present = [...observed.deployments, ...observed.services].flatMap(versionIn)
  const names = [...new Set([...wanted.keys(), ...present.toSorted()])]
  const isAlone = names.length === 1
  return names.map((name) => {
    const version = wanted.get(name)
    const recorded = observed.model.status?.activeVersions?.find((active) => active.name === name)
    const deployment = deploymentOf(observed, name)
    const isSole = deployment ? deployment.metadata.name === soleDeploymentName(model) : isAlone
    return {
      name,
      ...(version && { wanted: version }),
      ...(recorded && { recorded }),
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

/** A terminating one counts only as long as there is no other. */
function deploymentOf({ deployments }: ServingObserved, version: string): Deployment | undefined {
  const own = deployments.filter((deployment) => versionIn(deployment).includes(version))
  return own.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? own[0]
}

const isTerminating = ({ deployment }: Pick<Version, 'deployment'>): boolean =>
  deployment?.metadata.deletionTimestamp !== undefined

/** Pods that can take requests. Not more than `spec.replicas`: those above it are about to be terminated. */
export function availableOf(version: Pick<Version, 'deployment'>): number {
  const available = version.deployment?.status?.availableReplicas ?? 0
  return isTerminating(version) ? 0 : Math.min(available, replicasOf(version))
}

export function availableIn(observed: ServingObserved, version: string): number {
  const deployment = deploymentOf(observed, version)
  return deployment ? availableOf({ deployment }) : 0
}

export const isReady = (version: Version): boolean => availableOf(version) > 0

/** Now or earlier, with the present Deployment. A version that never was is starting, not degraded. */
export const hasBeenReady = (version: Version): boolean =>
  isReady(version) || (version.deployment !== undefined && version.recorded?.hasBeenReady === true)

/** `spec.replicas` of its Deployment, set by us or by an autoscaler. */
export const replicasOf = ({ deployment }: Pick<Version, 'deployment'>): number =>
  deployment ? (deployment.spec?.replicas ?? 1) : 0

/** The Deployment is still replacing pods, or has not observed its latest spec. */
export function isRolling({ deployment }: Pick<Version, 'deployment'>): boolean {
  const { replicas = 0, updatedReplicas = 0, observedGeneration = 0 } = deployment?.status ?? {}
  return updatedReplicas < replicas || observedGeneration < (deployment?.metadata.generation ?? 0)
}
