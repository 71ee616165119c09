/**
 * MLServer with its scikit-learn runtime. It takes its model from variables, so no model-settings.json is needed. It opens its
 * ports when it is done with the model. If it could not load it, /v2/health/ready answers 200 all the same for a moment, before
 * the server ends; so the probes query the model by name from the start.
 */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { liveness, readiness, starting } from './probe.ts'

const READY = '/v2/models/$(MODEL_NAME)/ready'

export const sklearn: ModelServerSpec = {
  image: 'docker.io/seldonio/mlserver:1.6.1-sklearn',
  port: 8080,
  command: ['mlserver'],
  args: ['start', '/tmp'],
  env: [
    { name: 'MLSERVER_MODEL_NAME', value: '$(MODEL_NAME)' },
    { name: 'MLSERVER_MODEL_URI', value: '$(MODEL_PATH)' },
    { name: 'MLSERVER_MODEL_IMPLEMENTATION', value: 'mlserver_sklearn.SKLearnModel' },
    { name: 'MLSERVER_HTTP_PORT', value: '8080' },
    { name: 'MLSERVER_GRPC_PORT', value: '8081' },
    { name: 'MLSERVER_METRICS_PORT', value: '8082' },
    // One process: workers beside it would each hold a copy of the model.
    { name: 'MLSERVER_PARALLEL_WORKERS', value: '0' },
  ],
  probes: { startup: starting(READY), readiness: readiness(READY), liveness: liveness('/v2/health/live') },
  model: { mountPath: '/mnt/models', layout: 'file', readOnly: true },
}
