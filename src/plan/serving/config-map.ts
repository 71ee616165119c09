/** The configuration files of the server, where its runtime has some. */
import { ConfigMap } from '../../kube/resources.ts'
import { child } from './child.ts'
import { configName } from '../model-names.ts'
import type { ServedModel } from './served-model.ts'

export function filesOf({ server, modelName }: ServedModel): Readonly<Record<string, string>> | undefined {
  const { files = [], model } = server
  if (files.length === 0) return undefined
  const filled = (text: string): string =>
    text.replaceAll('$(MODEL_NAME)', modelName).replaceAll('$(MODEL_PATH)', model.mountPath)
  return Object.fromEntries(files.map(({ name, content }) => [name, filled(content)]))
}

export function configMaps(model: ServedModel): ConfigMap[] {
  const data = filesOf(model)
  return data ? [{ ...child(model, ConfigMap, configName(model)), data }] : []
}
