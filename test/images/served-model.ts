/** A model for the node cluster: two TorchScript files on a volume, and the images that serve them. */
import { envoyImage, ENVOY_IMAGE } from '../../images/envoy.ts'
import { modelServerImage, MODEL_SERVER_IMAGE } from '../../images/model-server.ts'
import { operatorImage, OPERATOR_IMAGE } from '../../images/operator.ts'
import type { Client } from '../../src/kube/client.ts'
import { PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import { buildImage } from '../../testenv/image.ts'
import type { NodeCluster } from '../cluster/node-cluster.ts'
import { until } from '../timing/until.ts'

export const MODELS_CLAIM = 'models'

/** Operator settings with images that are on the node and resources that fit on it. */
export const servingSettings = {
  routerImage: ENVOY_IMAGE,
  agentImage: OPERATOR_IMAGE,
  routerResources: { requests: { cpu: '20m', memory: '32Mi' }, limits: { cpu: '2', memory: '256Mi' } },
  sharedMemory: '16Mi',
  drainSeconds: 5,
}

export async function loadServingImages(cluster: NodeCluster): Promise<void> {
  for (const spec of [operatorImage(), envoyImage(), modelServerImage()]) await cluster.load(await buildImage(spec))
}

/** Two models with different weights. The second overflows on huge features, so its server fails. */
const MAKE_MODELS = `
import os, torch
for name, scale in (("v1", 1), ("v2", 1e20)):
    model = torch.nn.Linear(2, 3)
    model.weight.data *= scale
    os.makedirs(f"/models/{name}", exist_ok=True)
    torch.jit.script(model).save(f"/models/{name}/model.pt")
`

/** Creates `pvc://models/v1/model.pt` and `pvc://models/v2/model.pt`. */
export async function makeModels(client: Client, namespace: string): Promise<void> {
  await client.create(PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: MODELS_CLAIM, namespace },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '16Mi' } } },
  })
  const key = { namespace, name: 'make-models' }
  await client.create(Pod, { apiVersion: 'v1', kind: 'Pod', metadata: key, spec: makeModelsSpec })
  const phase = await until(
    'the models to be made',
    async () => {
      const { status } = await client.get(Pod, key)
      return ['Succeeded', 'Failed'].find((end) => end === status?.phase)
    },
    5 * 60_000,
  )
  if (phase === 'Failed') throw new Error(await client.logs(key))
}

const makeModelsSpec: NonNullable<Pod['spec']> = {
  restartPolicy: 'Never',
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    fsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  containers: [
    {
      name: 'main',
      image: MODEL_SERVER_IMAGE,
      command: ['python3', '-c', MAKE_MODELS],
      volumeMounts: [{ name: 'models', mountPath: '/models' }],
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
  volumes: [{ name: 'models', persistentVolumeClaim: { claimName: MODELS_CLAIM } }],
}
