/** The ConfigMap with the configuration files of the server, if its runtime has any. Changed files are a new ConfigMap. */
import { ConfigMap } from '../../../kube/resources.ts'
import { child } from './child.ts'
import { fingerprint } from '../../fingerprint.ts'
import { filesName } from '../../model-names.ts'
import type { ServedModel } from '../observe/served-model.ts'

export function filesOf({ server, modelName }: ServedModel): Readonly<Record<string, string>> | undefined {
  const { files = [], model } = server
  if (files.length === 0) return undefined
  const filled = (text: string): string =>
    text.replaceAll('$(MODEL_NAME)', modelName).replaceAll('$(MODEL_PATH)', model.mountPath)
  return Object.fromEntries(files.map(({ name, content }) => [name, filled(content)]))
}

export const filesDigest = (files: Readonly<Record<string, string>>): string => fingerprint(JSON.stringify(files))

export function configMaps(model: ServedModel): ConfigMap[] {
  const data = filesOf(model)
  return data
    ? [{ ...child(model, ConfigMap, filesName(model, filesDigest(data)), { component: 'config' }), data }]
    : []
}
