/** ONNX models on Triton, whose ONNX Runtime backend needs no configuration: the project's own server is discontinued. */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { triton } from './triton.ts'

export const onnx: ModelServerSpec = triton
