/**
 * NVIDIA Triton. Its TensorFlow backend ended with 25.02, so SavedModels belong on the runtime `tensorflow`. It is ready only
 * when every model of the repository is; it is alive before that, so liveness must not ask for readiness.
 */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { liveness, readiness, starting } from './probe.ts'

export const triton: ModelServerSpec = {
  image: 'nvcr.io/nvidia/tritonserver:latest',
  port: 8000,
  command: ['tritonserver'],
  // Models are loaded once, at the start: polling the repository is not meant for production.
  args: [
    '--model-repository=$(MODEL_PATH)',
    '--model-control-mode=none',
    '--http-port=8000',
    '--strict-readiness=true',
  ],
  probes: {
    startup: starting('/v2/health/ready'),
    readiness: readiness('/v2/health/ready'),
    liveness: liveness('/v2/health/live'),
  },
  model: { mountPath: '/mnt/models', layout: 'repository', readOnly: true },
}
