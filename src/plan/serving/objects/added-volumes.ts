/** Volumes that the ModelServer, the model and the version add to a pod. The later of two with one name or path is used. */
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'
import type { Volume, VolumeMount } from './model-source.ts'

export function addedVolumes({ server }: ServedModel, { volumes }: ServedVersion): Volume[] {
  const all = [...(server.volumes ?? []), ...volumes]
  return [...new Map(all.map((volume) => [volume.name, rendered(volume)])).values()]
}

/** The API server stores quantities as text. */
function rendered({ emptyDir, ...volume }: ServedVersion['volumes'][number]): Volume {
  if (!emptyDir) return volume
  const { sizeLimit, ...rest } = emptyDir
  return { ...volume, emptyDir: { ...rest, ...(sizeLimit !== undefined && { sizeLimit: String(sizeLimit) }) } }
}

export function addedMounts({ server }: ServedModel, { volumeMounts }: ServedVersion): VolumeMount[] {
  const all = [...(server.volumeMounts ?? []), ...volumeMounts]
  return [...new Map(all.map((mount) => [mount.mountPath, mount])).values()]
}
