/**
 * vLLM: large language models behind an API compatible with OpenAI's, on as many GPUs as the pod has. It opens its port when
 * the model is loaded; /health answers 200 while its engine works, and /metrics is on the same port. The model is a directory
 * as on the Hugging Face Hub. It is complete, so nothing is requested from the Hub.
 */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { liveness, readiness, starting } from './probe.ts'

/** Half an hour: weights of hundreds of gigabytes are read from a volume, and kernels are compiled. */
const LOADING = { ...starting('/health'), failureThreshold: 360 }

export const vllm: ModelServerSpec = {
  image: 'docker.io/vllm/vllm-openai:v0.11.0',
  port: 8000,
  command: ['vllm', 'serve'],
  args: [
    '$(MODEL_PATH)',
    '--served-model-name=$(MODEL_NAME)',
    '--host=0.0.0.0',
    '--port=8000',
    '--tensor-parallel-size=$(DEVICE_COUNT)',
  ],
  env: [
    // Caches of compiled kernels. The user of the pod has neither a home directory nor a name in the image.
    { name: 'HOME', value: '/tmp' },
    { name: 'USER', value: 'vllm' },
    { name: 'HF_HUB_OFFLINE', value: '1' },
    { name: 'VLLM_NO_USAGE_STATS', value: '1' },
  ],
  probes: { startup: LOADING, readiness: readiness('/health'), liveness: liveness('/health') },
  model: { mountPath: '/mnt/models', layout: 'directory', readOnly: true },
}
