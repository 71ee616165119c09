/** Volumes and identity of the pods of a TrainingJob. */

import { ownVolumes } from './pod-guards.ts'
import { podVolumeMounts, podVolumes } from './pod-volumes.ts'
import { cel, objectName } from './schema.ts'

export const volumes = podVolumes(ownVolumes)

export const volumeMounts = podVolumeMounts()

/** Of the spec. Such a mount would hide a volume of the operator, and checkpoints would be lost with the pod. */
export const ownPathRules = [
  cel(
    `!has(self.volumeMounts) || self.volumeMounts.all(mount, mount.mountPath != '/var/run/ml-operator')`,
    'volumeMounts[].mountPath must not be /var/run/ml-operator, where the token for progress reports is mounted: choose another path',
    { fieldPath: '.volumeMounts' },
  ),
  cel(
    `!has(self.volumeMounts) || !self.checkpoint.enabled || self.checkpoint.storage.type != 'pvc' || self.volumeMounts.all(mount, mount.mountPath != (has(self.checkpoint.storage.path) ? self.checkpoint.storage.path : '/checkpoints'))`,
    'volumeMounts[].mountPath must not be the directory of the checkpoints (checkpoint.storage.path, by default /checkpoints): choose another path, or set checkpoint.enabled to false',
    { fieldPath: '.volumeMounts' },
  ),
  cel(
    `!has(self.volumeMounts) || !has(self.dataVolume) || self.volumeMounts.all(mount, mount.mountPath != '/data')`,
    'volumeMounts[].mountPath must not be /data, where dataVolume is mounted: choose another path, or remove dataVolume',
    { fieldPath: '.volumeMounts' },
  ),
]

export const serviceAccountName = objectName('ServiceAccount of the pods.', 'trainer')
