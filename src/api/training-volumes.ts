/** Volumes and identity of the pods of a TrainingJob. */

import { podVolumeMounts, podVolumes } from './pod-volumes.ts'
import { objectName } from './schema.ts'

/** Names of the volumes that the operator adds. */
export const ownVolumes = ['checkpoints', 'config', 'data', 'dshm', 'ssh'] as const

export const volumes = podVolumes(ownVolumes)

export const volumeMounts = podVolumeMounts()

export const serviceAccountName = objectName('ServiceAccount of the pods.', 'trainer')
