/**
 * A model in an image: `oci://registry/repository:tag?path=/directory`. The kubelet pulls the image with the pull secrets of
 * the pod and mounts it read-only, so nothing is fetched, and nodes cache it as they cache other images.
 *
 * An API server without image volumes stores a pod without the volume and its mounts, and the server would start without its
 * model. So a Deployment stays paused until it is observed with the volume, and a validation without it is not believed.
 */
import type { Deployment, Pod } from '../../../kube/resources.ts'
import type { Trouble } from '../../pod-trouble.ts'
import type { ServedVersion } from '../observe/served-model.ts'

type PodSpec = NonNullable<Pod['spec']>

/** A volume, with the source that `kubernetes-types` lacks. */
export type Volume = NonNullable<PodSpec['volumes']>[number] & { readonly image?: { readonly reference?: string } }

export interface ModelImage {
  readonly reference: string
  /** The directory or file in the image, without leading slash. Empty: all of it. */
  readonly inside: string
}

type Location = Pick<ServedVersion, 'uri'>

export function modelImage({ uri }: Location): ModelImage | undefined {
  const [, reference, inside = ''] = /^oci:\/\/([^?]+)(?:\?path=\/+(.*))?$/.exec(uri) ?? []
  return reference === undefined ? undefined : { reference, inside }
}

/** Its model is in an image, and this pod spec, as the API server stored it, has no image volume. */
export function lacksImageVolume(version: Location, spec: object | undefined): boolean {
  const { volumes = [] } = (spec ?? {}) as { readonly volumes?: readonly Volume[] }
  return modelImage(version) !== undefined && !volumes.some(({ image }) => image !== undefined)
}

/** It was written together with the volume, so a paused Deployment without the volume shows that the server dropped it. */
export function hasDroppedImageVolume(version: Location, deployment: Deployment | undefined): boolean {
  return deployment?.spec?.paused === true && lacksImageVolume(version, deployment.spec.template.spec)
}

export const IMAGE_VOLUMES_UNSUPPORTED = 'ImageVolumesUnsupported'

export function unsupportedImageVolumes({ uri }: Location, further = ''): Trouble {
  const needs =
    'Kubernetes 1.33 or newer with the feature gate ImageVolume (on by default since 1.35) and containerd 2.1 or newer'
  const message = `This cluster does not support modelPath ${uri}: it needs ${needs}; upgrade the cluster${further}, or use another modelPath`
  return { reason: IMAGE_VOLUMES_UNSUPPORTED, message }
}

/** An API server that does not know the field rejects the apply with this message. */
export const isUnknownImageVolume = (message: string): boolean =>
  /volumes\[name="model"\]\.image: field not declared/.test(message)
