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

/** The names are a contract: a ModelServer of the same name in the model's namespace overrides it. */
export const builtInRuntimes: Readonly<Record<string, ModelServerSpec>> = {
  triton,
  torchserve,
  'fastapi-pytorch': fastapiPytorch,
  sklearn,
  onnx,
  tensorflow,
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
