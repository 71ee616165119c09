/** A FastAPI application around a PyTorch model: `POST /predict` on 8000, `GET /health` answers 200 once the model is loaded. */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { liveness, readiness, starting } from './probe.ts'

export const fastapiPytorch: ModelServerSpec = {
  image: 'localhost/fastapi-pytorch:dev',
  port: 8000,
  probes: { startup: starting('/health'), readiness: readiness('/health'), liveness: liveness('/health') },
  model: { mountPath: '/mnt/models', layout: 'file', readOnly: true },
}
