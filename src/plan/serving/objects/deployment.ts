/** The Deployment of a version. Its selector includes the version, so no two Deployments share pods. */
import { Deployment } from '../../../kube/resources.ts'
import { child } from './child.ts'
import type { ServingConfig } from '../config.ts'
import { lacksImageVolume } from './image-volume.ts'
import { serverLabels } from '../../model-names.ts'
import { serverTemplate } from './pod-template.ts'
import { modelOf, type ServedModel } from '../observe/served-model.ts'
import type { WantedVersion } from '../observe/version.ts'

/** On a Deployment: the number of pods that we set. */
export const REPLICAS_ANNOTATION = 'modeldeployment.ml.example.com/replicas'
/** On a Deployment of pods with devices: digest of the template, to recognize a change before it is written. */
export const TEMPLATE_ANNOTATION = 'modeldeployment.ml.example.com/template'

export interface DeploymentSettings {
  /** Undefined where an autoscaler sets it. */
  readonly replicas?: number
  readonly maxSurge: number
  /** Digest of the template. */
  readonly template?: string
}

export function deployment(
  model: ServedModel,
  version: WantedVersion,
  config: ServingConfig,
  { replicas, maxSurge, template }: DeploymentSettings,
): Deployment {
  const purpose = { component: 'server', version: version.name } as const
  const { metadata, ...head } = child(model, Deployment, version.deploymentName, purpose)
  const annotations = {
    ...(replicas !== undefined && { [REPLICAS_ANNOTATION]: String(replicas) }),
    ...(template !== undefined && { [TEMPLATE_ANNOTATION]: template }),
  }
  return {
    ...head,
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      ...(replicas !== undefined && { replicas }),
      // Until it is observed with the volume, so that no server starts without its model.
      ...(lacksImageVolume(version.wanted, version.deployment?.spec?.template.spec) && { paused: true }),
      selector: { matchLabels: serverLabels(model, version.name) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: 1 - maxSurge } },
      template: serverTemplate(modelOf(model, version.wanted), version.wanted, config),
    },
  }
}
