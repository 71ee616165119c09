/** The environment variables of a server and of its validation. */
import { gpuEnvironment } from '../../pod/gpu-environment.ts'
import { renderVariable } from '../../pod/variable.ts'
import { requestedGpus, type Resources } from '../../pod/resources.ts'
import type { ServingConfig } from '../config.ts'
import type { ServedModel, ServedVersion, Variable } from '../observe/served-model.ts'
import type { Container, ModelSource } from './model-source.ts'

interface Subject {
  readonly model: ServedModel
  readonly version: ServedVersion
  readonly config: ServingConfig
  readonly source: ModelSource
}

type Environment = NonNullable<Container['env']>

/** Ours first, since later ones may refer to them as `$(MODEL_NAME)`. Of two with the same name the later one wins. */
export function environmentOf(subject: Subject, resources: Resources): Environment {
  const { model, version, source } = subject
  const own: readonly Variable[] = [
    { name: 'MODEL_NAME', value: model.modelName },
    { name: 'MODEL_PATH', value: source.path },
    { name: 'MODEL_VERSION', value: version.name },
    { name: 'MODEL_URI', value: version.uri },
    ...(model.framework === undefined ? [] : [{ name: 'FRAMEWORK', value: model.framework }]),
    { name: 'PORT', value: String(model.server.port) },
    ...deviceCount(subject),
  ]
  const all = [...own, ...(model.server.env ?? []), ...version.env, ...gpuEnvironment(resources)]
  return [...new Map(all.map((variable) => [variable.name, variable])).values()].map(renderVariable)
}

/** In the order of precedence: of two sources with the same key, the later one wins. */
const sourcesOf = ({ model, version }: Subject) => [...(model.server.envFrom ?? []), ...version.envFrom]

export function environmentSourcesOf(subject: Subject): Pick<Container, 'envFrom'> {
  const envFrom = sourcesOf(subject)
  return envFrom.length === 0 ? {} : { envFrom }
}

const DEVICE_COUNT = 'DEVICE_COUNT'

/** Number of GPUs of the pod, or 1 for the CPU. Only for servers that refer to it, so that pods of others do not change. */
function deviceCount({ model, version, config: { gpuResource } }: Subject): Variable[] {
  const { command = [], args = [], env = [] } = model.server
  const words = [...command, ...args, ...version.args, ...[...env, ...version.env].map(({ value }) => value)]
  if (!words.some((word) => word.includes(`$(${DEVICE_COUNT})`))) return []
  return [{ name: DEVICE_COUNT, value: String(Math.max(1, requestedGpus(version.resources, gpuResource))) }]
}
