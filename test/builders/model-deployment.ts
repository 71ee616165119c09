/** Builds ModelDeployments, and reads the labels of their pods. */
import type { MlopsModelDeployment, MlopsModelDeploymentSpec } from '../../src/api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment, ModelDeploymentSpec } from '../../src/api/modeldeployment.v1.ts'
import type { Deployment, Job, Pod } from '../../src/kube/resources.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { isGpuEnvironment } from '../../src/plan/pod/gpu-environment.ts'

/** As a user writes it: the server sets the defaults. */
export type ModelSpecInput = Partial<Omit<ModelDeploymentSpec, 'traffic' | 'scaling' | 'versions'>> & {
  readonly versions?: readonly object[]
  readonly traffic?: object
  readonly scaling?: object
}

export interface VersionInput {
  readonly name: string
  readonly weight: number
  readonly image?: string
}

/** Versions by weight: `{ v1: 90, v2: 10 }`. The model is in the image, so nothing is fetched. */
export function versions(weights: Readonly<Record<string, number>>): VersionInput[] {
  return Object.entries(weights).map(([name, weight]) => ({ name, weight, modelPath: `/models/${name}` }))
}

export function modelDeployment(namespace: string, name: string, spec: ModelSpecInput = {}): ModelDeployment {
  const object = {
    apiVersion: 'ml.example.com/v1',
    kind: 'ModelDeployment',
    metadata: { namespace, name },
    spec: {
      modelName: name,
      framework: 'pytorch',
      image: 'example.com/server:1',
      versions: versions({ v1: 100 }),
      scaling: { minReplicas: 1, maxReplicas: 1 },
      ...spec,
    },
  }
  return object as unknown as ModelDeployment
}

export function mlopsModel(
  namespace: string,
  name: string,
  spec: Partial<MlopsModelDeploymentSpec> = {},
): MlopsModelDeployment {
  const object = {
    apiVersion: 'mlops.sathvik.dev/v1',
    kind: 'ModelDeployment',
    metadata: { namespace, name },
    spec: { modelURI: 'https://example.com/model.pt', runtime: 'fastapi-pytorch', ...spec },
  }
  return object as unknown as MlopsModelDeployment
}

export const versionOf = (pod: Pod): string | undefined => pod.metadata.labels?.[VERSION_LABEL]
export const servingRoleOf = (pod: Pod): string | undefined => pod.metadata.labels?.[ROLE_LABEL]

/** What a server or its validation runs on, read off the pods alone: image, environment without that of GPUs, and how the model is fetched. */
export function contentOf({ spec }: Deployment | Job): string {
  const { containers = [], initContainers = [] } = spec?.template.spec ?? {}
  const fetches = initContainers.map(({ args, env }) => ({ args, env }))
  const servers = containers.map(({ image, env = [] }) => ({ image, env: env.filter((one) => !isGpuEnvironment(one)) }))
  return JSON.stringify([servers, fetches])
}
