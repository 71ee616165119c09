/** The objects of `ml-operator check`: a training with one worker, and a model that serves its result. */
import { GROUP } from './api/kinds.ts'
import type { ModelDeployment } from './api/modeldeployment.v1.ts'
import type { ModelServer } from './api/modelserver.v1.ts'
import type { TrainingJob } from './api/trainingjob.v1.ts'

export interface CheckSettings {
  readonly namespace: string
  readonly name: string
  /** An image of this program: it trains and serves. */
  readonly image: string
  /** Secrets for pulling the image, in the same namespace. */
  readonly imagePullSecrets: readonly string[]
  readonly storageClass?: string
  readonly storageSize: string
}

const PROGRAM = ['/usr/local/bin/node', '/app/src/main.ts', 'agent']
const SMALL = { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } }

/** The API server fills in the defaults of omitted fields. */
function objectOf<S>(kind: string, { namespace, name }: CheckSettings, spec: Partial<Record<keyof S, unknown>>) {
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { namespace, name }, spec: spec as S }
}

const pulled = ({ imagePullSecrets }: CheckSettings): object =>
  imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }

/** The claim of the checkpoints is deleted with the job. */
export function trainingOf(settings: CheckSettings): TrainingJob {
  const { image, storageClass, storageSize } = settings
  return objectOf<TrainingJob['spec']>('TrainingJob', settings, {
    image,
    command: [...PROGRAM, 'tiny-train'],
    numWorkers: 1,
    gpusPerWorker: 0,
    resources: SMALL,
    ...pulled(settings),
    checkpoint: {
      deleteOnCompletion: true,
      storage: { size: storageSize, ...(storageClass !== undefined && { storageClass }) },
    },
  })
}

export function serverOf(settings: CheckSettings): ModelServer {
  const probe = { path: '/health', periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 60 }
  return objectOf<ModelServer['spec']>('ModelServer', settings, {
    image: settings.image,
    port: 8080,
    command: [...PROGRAM, 'tiny-serve'],
    probes: { startup: probe, readiness: probe },
  })
}

export function modelOf(settings: CheckSettings): ModelDeployment {
  const { name } = settings
  return objectOf<ModelDeployment['spec']>('ModelDeployment', settings, {
    modelName: name,
    framework: 'sklearn',
    runtime: name,
    versions: [{ name: 'v1', weight: 100, modelPath: `pvc://${name}-checkpoints/model.json` }],
    resources: SMALL,
    ...pulled(settings),
    scaling: { minReplicas: 1, maxReplicas: 1 },
  })
}
