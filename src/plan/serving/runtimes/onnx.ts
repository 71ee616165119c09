/** ONNX models on Triton, whose ONNX Runtime backend needs no configuration: the project's own server has ended. */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { triton } from './triton.ts'

export const onnx: ModelServerSpec = triton
