/** Live objects for campaigns. Together they have every kind of child. */
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { servingOutcome } from '../fakes/routers.ts'
import { modelDeployment, versions } from '../builders/model-deployment.ts'
import { trainingJob } from '../builders/training-job.ts'
import { Lane, type CampaignCluster } from './lane.ts'

export interface LiveObject {
  readonly resource: Resource
  readonly object: KubeObject
}

const fetched = versions({ v1: 90, v2: 10 }).map((version) => ({ ...version, modelPath: 's3://models/bert' }))

/** `{job}-workers` with a ConfigMap and a claim, as pods and as a Job; and a model behind a router. */
export const liveObjects: readonly LiveObject[] = [
  {
    resource: trainingJobs,
    object: trainingJob('', 'job', { numWorkers: 1, hyperparameters: { epochs: 3 }, gpusPerWorker: 0 }),
  },
  { resource: trainingJobs, object: trainingJob('', 'indexed', { engine: 'job', numWorkers: 1, gpusPerWorker: 0 }) },
  {
    resource: modelDeployments,
    object: modelDeployment('', 'bert', {
      versions: fetched,
      traffic: { provider: 'router' },
      scaling: { minReplicas: 2, maxReplicas: 4 },
      validation: { script: 'validate.py', timeoutSeconds: 60 },
      storage: { size: '1Gi' } as never,
    }),
  },
]

/** Models that Istio and the Gateway API route to. */
export const routedObjects: readonly LiveObject[] = [
  {
    resource: modelDeployments,
    object: modelDeployment('', 'meshed', { versions: versions({ v1: 60, v2: 40 }), traffic: { provider: 'istio' } }),
  },
  {
    resource: modelDeployments,
    object: modelDeployment('', 'gated', {
      versions: versions({ v1: 60, v2: 40 }),
      traffic: { provider: 'gateway', gateways: ['public'] },
    }),
  },
]

/** Opens a lane with these objects, whose pods all run. */
export async function openLane(campaignCluster: CampaignCluster, objects: readonly LiveObject[]): Promise<Lane> {
  const lane = await Lane.open(campaignCluster, servingOutcome())
  for (const { resource, object } of objects) await lane.create(resource, object)
  await lane.converge()
  return lane
}
