/** Which server runs a model: a ModelServer of its namespace, a built-in runtime, or the image alone. */
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

const byFramework = { tensorflow: 'tensorflow', pytorch: 'torchserve', sklearn: 'sklearn', onnx: 'onnx' } as const

/** The ModelServer that a model runs on; none for an image alone. */
export function runtimeNameOf(model: ModelDeployment | MlopsModelDeployment): string | undefined {
  const { spec } = model
  if (spec.runtime !== undefined) return spec.runtime
  return 'framework' in spec && spec.image === undefined ? byFramework[spec.framework] : undefined
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
