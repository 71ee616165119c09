/** TensorFlow Serving: SavedModels below {name}/{number}. It opens its port only when the model is loaded. */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { liveness, readiness, starting } from './probe.ts'

const MODEL = '/v1/models/$(MODEL_NAME)'

export const tensorflow: ModelServerSpec = {
  image: 'docker.io/tensorflow/serving:2.18.0',
  port: 8501,
  command: ['tensorflow_model_server'],
  args: [
    '--port=8500',
    '--rest_api_port=8501',
    '--model_name=$(MODEL_NAME)',
    '--model_base_path=$(MODEL_PATH)/$(MODEL_NAME)',
    // Otherwise it retries a broken model for five minutes before it exits and the status can report it.
    '--max_num_load_retries=0',
  ],
  probes: { startup: starting(MODEL), readiness: readiness(MODEL), liveness: liveness(MODEL) },
  model: { mountPath: '/mnt/models', layout: 'repository', readOnly: true },
}
