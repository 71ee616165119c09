/** The Deployment of a version. Its selector includes the version, so no two Deployments share pods. */
import { Deployment } from '../../../kube/resources.ts'
import { unschedulable } from '../../pod-trouble.ts'
import { requestedGpus } from '../../pod/resources.ts'
import { child } from './child.ts'
import type { ServingConfig } from '../config.ts'
import { lacksImageVolume } from './image-volume.ts'
import { serverLabels } from '../../model-names.ts'
import { serverTemplate } from './pod-template.ts'
import { modelOf, type ServedModel } from '../observe/served-model.ts'
import { isRolling, type Version, type WantedVersion } from '../observe/version.ts'

/** On a Deployment: the number of pods that we set. */
export const REPLICAS_ANNOTATION = 'modeldeployment.ml.example.com/replicas'

/** `replicas`: undefined where an autoscaler sets it. */
export function deployment(
  model: ServedModel,
  version: WantedVersion,
  config: ServingConfig,
  replicas: number | undefined,
): Deployment {
  const purpose = { component: 'server', version: version.name } as const
  const { metadata, ...head } = child(model, Deployment, version.deploymentName, purpose)
  const annotations = replicas === undefined ? {} : { annotations: { [REPLICAS_ANNOTATION]: String(replicas) } }
  return {
    ...head,
    metadata: { ...metadata, ...annotations },
    spec: {
      ...(replicas !== undefined && { replicas }),
      // Until it is observed with the volume, so that no server starts without its model.
      ...(lacksImageVolume(version.wanted, version.deployment?.spec?.template.spec) && { paused: true }),
      selector: { matchLabels: serverLabels(model, version.name) },
      strategy: { type: 'RollingUpdate', rollingUpdate: surge(rollsInPlace(version, config)) },
      template: serverTemplate(modelOf(model, version.wanted), version.wanted, config),
    },
  }
}

/** Normally a new pod is ready before an old one is terminated. */
const surge = (inPlace: boolean) => (inPlace ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 })

/**
 * Without a spare GPU a new pod cannot start before an old one releases its GPU, and the rollout would never end. Such a
 * rollout replaces pods one at a time, with one pod less until it is done.
 */
export function rollsInPlace(version: Version, config: ServingConfig): boolean {
  if (requestedGpus(version.wanted?.resources, config.gpuResource) === 0 || !isRolling(version)) return false
  const maxSurge = version.deployment?.spec?.strategy?.rollingUpdate?.maxSurge
  const lacking = `Insufficient ${config.gpuResource}`
  return maxSurge === 0 || version.pods.some((pod) => unschedulable(pod)?.includes(lacking))
}
