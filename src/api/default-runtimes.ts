/**
 * The built-in runtime of a model with neither `runtime` nor `image`, by framework. PyTorch has none: a model is an archive
 * for TorchServe, TorchScript for `fastapi-pytorch` or a repository for Triton, and only its owner knows which.
 */

import { cel } from './schema.ts'

export const defaultRuntimes: Readonly<Record<string, string>> = {
  tensorflow: 'tensorflow',
  sklearn: 'sklearn',
  onnx: 'onnx',
}

const names = Object.keys(defaultRuntimes)

export const RUNTIME_NEEDED =
  `spec.runtime or spec.image is required, since only the frameworks ${names.join(', ')} have a default runtime: ` +
  'for pytorch, set spec.runtime to fastapi-pytorch (TorchScript), torchserve (model archives) or triton'

export const runtimeRule = cel(
  `has(self.runtime) || has(self.image) || self.framework in ['${names.join("', '")}']`,
  RUNTIME_NEEDED,
  { fieldPath: '.framework' },
)
