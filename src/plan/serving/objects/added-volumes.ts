/** Volumes that the ModelServer and the model add to a pod. Those of the model replace those of the ModelServer. */
import type { ServedModel } from '../observe/served-model.ts'
import type { Volume, VolumeMount } from './model-source.ts'

export function addedVolumes({ server, volumes = [] }: ServedModel): Volume[] {
  const all = [...(server.volumes ?? []), ...volumes]
  return [...new Map(all.map((volume) => [volume.name, rendered(volume)])).values()]
}

/** The API server stores quantities as text. */
function rendered({ emptyDir, ...volume }: NonNullable<ServedModel['volumes']>[number]): Volume {
  if (!emptyDir) return volume
  const { sizeLimit, ...rest } = emptyDir
  return { ...volume, emptyDir: { ...rest, ...(sizeLimit !== undefined && { sizeLimit: String(sizeLimit) }) } }
}

export function addedMounts({ server, volumeMounts = [] }: ServedModel): VolumeMount[] {
  const all = [...(server.volumeMounts ?? []), ...volumeMounts]
  return [...new Map(all.map((mount) => [mount.mountPath, mount])).values()]
}
