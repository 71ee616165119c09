/** Which server runs a model: a ModelServer of its namespace, a built-in runtime, or the image alone. */
import { defaultRuntimes } from '../../../api/default-runtimes.ts'
import type { MlopsModelDeployment } from '../../../api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment } from '../../../api/modeldeployment.v1.ts'
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { fastapiPytorch } from './fastapi-pytorch.ts'
import { onnx } from './onnx.ts'
import { liveness, readiness, starting } from './probe.ts'
import { sklearn } from './sklearn.ts'
import { tensorflow } from './tensorflow.ts'
import { torchserve } from './torchserve.ts'
import { triton } from './triton.ts'
import { vllm } from './vllm.ts'

/** The names are a contract: a ModelServer of the same name in the model's namespace overrides it. */
export const builtInRuntimes: Readonly<Record<string, ModelServerSpec>> = {
  triton,
  torchserve,
  'fastapi-pytorch': fastapiPytorch,
  sklearn,
  onnx,
  tensorflow,
  vllm,
}

/** What the administrator sets for a built-in runtime. */
export interface RuntimeSettings {
  /** Replaces the image of the runtime. */
  readonly image?: string
  /** Added after the arguments of the runtime. */
  readonly args?: readonly string[]
}

/** By name of the runtime. */
export type RuntimeConfig = Readonly<Record<string, RuntimeSettings>>

/** A built-in runtime as the administrator configured it. */
export function builtInRuntime(name: string, config: RuntimeConfig): ModelServerSpec | undefined {
  const server = Object.hasOwn(builtInRuntimes, name) ? builtInRuntimes[name] : undefined
  const { image, args = [] } = (Object.hasOwn(config, name) ? config[name] : undefined) ?? {}
  if (!server) return undefined
  return {
    ...server,
    ...(image !== undefined && { image }),
    ...(args.length > 0 && { args: [...(server.args ?? []), ...args] }),
  }
}

/** What is wrong with the settings of a runtime. */
export function runtimeConfigProblem(runtimes: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, settings] of Object.entries(runtimes)) {
    if (!Object.hasOwn(builtInRuntimes, name))
      return `runtimes.${name}: there is no such built-in runtime: use one of ${Object.keys(builtInRuntimes).join(', ')}`
    if (!isSettings(settings)) return `runtimes.${name} must have an image, a string, or args, a list of strings`
  }
  return undefined
}

function isSettings(settings: unknown): settings is RuntimeSettings {
  if (typeof settings !== 'object' || settings === null) return false
  const { image = '-', args = [], ...others } = settings as Readonly<Record<string, unknown>>
  const isArgs = Array.isArray(args) && args.every((arg) => typeof arg === 'string')
  return Object.keys(others).length === 0 && typeof image === 'string' && image !== '' && isArgs
}

/** The ModelServer that a model runs on; none for an image alone, and none if the spec has to name one. */
export function runtimeNameOf(model: ModelDeployment | MlopsModelDeployment): string | undefined {
  const { spec } = model
  if (spec.runtime !== undefined) return spec.runtime
  if (!('framework' in spec) || spec.image !== undefined) return undefined
  return Object.hasOwn(defaultRuntimes, spec.framework) ? defaultRuntimes[spec.framework] : undefined
}

/** The defaults for an image without a runtime: port 8080. */
export function bareImage(image: string, endpoint: string): ModelServerSpec {
  return {
    image,
    port: 8080,
    probes: { startup: starting(endpoint), readiness: readiness(endpoint), liveness: liveness(endpoint) },
    model: { mountPath: '/mnt/models', layout: 'file', readOnly: true },
  }
}
