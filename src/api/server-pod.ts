/** What users add to the pods of model servers: arguments, variables and volumes. */

import { ownServerPaths, ownServerVolumes } from './pod-guards.ts'
import { FILES_DIRECTORY, MODEL_DIRECTORY } from './server-paths.ts'
import { podVolumeMounts, podVolumes } from './pod-volumes.ts'
import { cel, list, text } from './schema.ts'

export const serverVolumes = podVolumes(ownServerVolumes)

export const versionVolumes = podVolumes(
  ownServerVolumes,
  'Volumes of this version, after spec.volumes. They replace volumes with the same name.',
)

const mountPathRules = [
  cel(
    `!self.matches('${ownServerPaths}')`,
    `volumeMounts[].mountPath must not hide /dev/shm, ${FILES_DIRECTORY}, ${MODEL_DIRECTORY} or /tmp, which the operator mounts: choose another path`,
  ),
]

export const serverVolumeMounts = podVolumeMounts(mountPathRules)

export const versionVolumeMounts = podVolumeMounts(
  mountPathRules,
  'Volume mounts of this version, after spec.volumeMounts. They replace mounts with the same path.',
)

export const serverArgs = (description: string) =>
  list(text({ description: 'An argument.', maxLength: 4096 }), {
    description,
    maxItems: 64,
    examples: [['--log-verbose=1']],
  })
