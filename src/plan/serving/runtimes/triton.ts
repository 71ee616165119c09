/**
 * NVIDIA Triton. Its TensorFlow backend ended with 25.02, so SavedModels belong on the runtime `tensorflow`. It opens its ports
 * when every model of the repository is loaded, and exits if one cannot be. /v2/health/ready answers 200 for a repository
 * without any model, so the probes query the model by name.
 */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { liveness, readiness, starting } from './probe.ts'

const READY = '/v2/models/$(MODEL_NAME)/ready'

export const triton: ModelServerSpec = {
  image: 'nvcr.io/nvidia/tritonserver:25.06-py3',
  port: 8000,
  command: ['tritonserver'],
  // Models are loaded once, at the start: polling the repository is not meant for production.
  args: [
    '--model-repository=$(MODEL_PATH)',
    '--model-control-mode=none',
    '--http-port=8000',
    '--strict-readiness=true',
  ],
  probes: { startup: starting(READY), readiness: readiness(READY), liveness: liveness('/v2/health/live') },
  model: { mountPath: '/mnt/models', layout: 'repository', readOnly: true },
}
