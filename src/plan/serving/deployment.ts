/** The Deployment of a version. Its selector is that of the version alone, so that no two ever count the same pods. */
import { Deployment } from '../../kube/resources.ts'
import { unschedulable } from '../pod-trouble.ts'
import { child } from './child.ts'
import type { ServingConfig } from './config.ts'
import { serverLabels, VERSION_LABEL } from '../model-names.ts'
import { serverTemplate, usesGpu } from './pod-template.ts'
import { REPLICAS_ANNOTATION } from './scale.ts'
import type { ServedModel, ServedVersion } from './served-model.ts'
import { isRolling, type Version } from './version.ts'

export interface Wanted extends Version {
  readonly wanted: ServedVersion
}

/** `replicas`: absent where an autoscaler says it. */
export function deployment(
  model: ServedModel,
  version: Wanted,
  config: ServingConfig,
  replicas: number | undefined,
): Deployment {
  const { metadata, ...head } = child(model, Deployment, version.deploymentName, { [VERSION_LABEL]: version.name })
  const annotations = replicas === undefined ? {} : { annotations: { [REPLICAS_ANNOTATION]: String(replicas) } }
  return {
    ...head,
    metadata: { ...metadata, ...annotations },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: serverLabels(model, version.name) },
      strategy: { type: 'RollingUpdate', rollingUpdate: surge(rollsInPlace(version, config)) },
      template: serverTemplate(model, version.wanted, config),
    },
  }
}

/** Normally a new pod is ready before an old one goes. */
const surge = (inPlace: boolean) => (inPlace ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 })

/**
 * A pod that needs a GPU cannot start before an old one gives its GPU up, if there is none to spare: the roll-out would
 * stand still for ever. So it goes on with one pod less until it is through.
 */
export function rollsInPlace(version: Version, config: ServingConfig): boolean {
  if (!version.wanted || !usesGpu(version.wanted, config) || !isRolling(version)) return false
  const maxSurge = version.deployment?.spec?.strategy?.rollingUpdate?.maxSurge
  const lacking = `Insufficient ${config.gpuResource}`
  return maxSurge === 0 || version.pods.some((pod) => unschedulable(pod)?.includes(lacking))
}
