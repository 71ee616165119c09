/** What users add to the pods of model servers: arguments, variables and volumes. */

import { FILES_DIRECTORY, MODEL_DIRECTORY } from './server-paths.ts'
import { podVolumeMounts, podVolumes } from './pod-volumes.ts'
import { cel, list, text } from './schema.ts'

/** Names of the volumes that the operator adds. */
export const ownServerVolumes = ['credentials', 'dshm', 'files', 'model', 'tmp', 'trust'] as const

export const serverVolumes = podVolumes(ownServerVolumes)

/** Not at, above or inside of what the operator mounts, except inside of /tmp. */
const ownPaths = `^/+(dev(/+shm(/.*)?)?|etc(/+model-server(/.*)?)?|mnt(/+models(/.*)?)?|tmp)/*$`

export const serverVolumeMounts = podVolumeMounts([
  cel(
    `!self.matches('${ownPaths}')`,
    `volumeMounts[].mountPath must not hide /dev/shm, ${FILES_DIRECTORY}, ${MODEL_DIRECTORY} or /tmp, which the operator mounts: choose another path`,
  ),
])

export const serverArgs = (description: string) =>
  list(text({ description: 'An argument.', maxLength: 4096 }), {
    description,
    maxItems: 64,
    examples: [['--log-verbose=1']],
  })
