/** A model with targets for requests. Without proxies an autoscaler applies them. With proxies they show only under load. */
import { modelDeployments } from '../../src/api/kinds.ts'
import { modelDeployment, versions } from '../builders/model-deployment.ts'

const scaling = {
  minReplicas: 1,
  maxReplicas: 4,
  targetRequestsPerSecond: 50,
  targetConcurrency: 8,
  targetQueueDepth: 4,
}

const spec = { scaling, versions: versions({ v1: 100 }).map((version) => ({ ...version, scaling })) }

export const countedSpec = {
  name: 'ModelDeployment scaled by requests',
  subject: { resource: modelDeployments, object: modelDeployment('', 'counted', spec) },
  others: [],
}
