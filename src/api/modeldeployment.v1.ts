/** ModelDeployment v1 of ml.example.com: one model, one or more versions of it, and how traffic is divided between them. */

import { computeResources } from './compute.ts'
import { environment } from './environment.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import {
  MAX_VERSIONS,
  modelChecksum,
  modelPath,
  type ServingStatus,
  servingColumns,
  servingImage,
  servingStatus,
  versionName,
} from './modeldeployment-parts.ts'
import { cel, DNS_LABEL, type Infer, int32, listMap, object, staysInside, strEnum, text, optional } from './schema.ts'
import { servingAccountName, servingScheduling, storage, validationScript, validationTimeout } from './serving-pod.ts'
import { scaling, versionScaling } from './serving-scaling.ts'
import { traffic } from './serving-traffic.ts'
import { imagePullSecrets } from './training-volumes.ts'

/**
 * The sum written out term by term. The API server prices `map` and `sum` at the worst case and refuses them even for
 * short lists on older releases; terms behind a size check cost next to nothing.
 */
function sumOf(field: string, maxItems: number): string {
  const term = (index: number): string => `(size(self) > ${index} ? self[${index}].${field} : 0)`
  return Array.from({ length: maxItems }, (_, index) => term(index)).join(' + ')
}

const version = object(
  {
    name: versionName('Name of the version; its Deployment and Service are called {model}-{version}.'),
    weight: int32({
      description: 'Share of the traffic in percent. The weights of all versions sum to 100.',
      minimum: 0,
      maximum: 100,
      examples: [100],
    }),
    modelPath,
    checksum: optional(modelChecksum),
    image: optional(
      servingImage('Image of this version, where it differs from spec.image.', 'my-registry/sentiment-model:v2.0.0'),
    ),
    resources: optional(computeResources('Resources of each pod of this version, instead of spec.resources.')),
    scaling: optional(versionScaling),
    env: optional(
      environment('Environment variables of this version, beside and before those of spec.env.', 'resources'),
    ),
  },
  { description: 'One version of the model.' },
)

const seconds = (description: string, fallback: number) => int32({ description, minimum: 1, default: fallback })

const healthCheck = object(
  {
    endpoint: text({
      description: 'Path that answers 200 while the server is well. A path only: host and port are those of the pod.',
      maxLength: 512,
      pattern: '^/([^/\\s?#][^\\s?#]*)?$',
      default: '/health',
      rules: [staysInside('healthCheck.endpoint')],
    }),
    intervalSeconds: seconds('Time between two checks of a pod.', 30),
    timeoutSeconds: seconds('Time after which a check without an answer has failed.', 5),
    failureThreshold: seconds('Failed checks in a row after which a pod counts as unhealthy.', 3),
  },
  { description: 'How the operator tells whether a pod is well.', default: {} },
)

const validation = object(
  {
    script: validationScript('validation.script'),
    image: optional(servingImage('Image to run it in; that of the version if absent.', 'my-registry/validator:v1')),
    timeoutSeconds: validationTimeout,
  },
  { description: 'A script that judges each version before it gets traffic.', examples: [{ script: 'validate.py' }] },
)

const spec = object(
  {
    modelName: text({
      description: 'Name of the model, as clients of the model server know it.',
      minLength: 1,
      maxLength: 253,
      examples: ['sentiment-classifier'],
    }),
    framework: strEnum(['tensorflow', 'pytorch', 'sklearn', 'onnx'], { description: 'Framework of the model.' }),
    runtime: optional(
      text({
        description:
          'Server that runs the model: the name of a ModelServer of the namespace, or one of triton, torchserve, fastapi-pytorch, sklearn, onnx ' +
          'and tensorflow. Absent: the image alone, or without an image the one that belongs to the framework.',
        minLength: 1,
        maxLength: 63,
        pattern: DNS_LABEL,
        examples: ['triton'],
      }),
    ),
    image: optional(
      servingImage(
        'Container image of the model server, instead of the one of the runtime. Without a runtime it listens on 8080.',
        'my-registry/sentiment-model:v1.0.0',
      ),
    ),
    versions: listMap(version, ['name'], {
      description: 'The versions to serve, and their shares of the traffic.',
      minItems: 1,
      maxItems: MAX_VERSIONS,
      rules: [
        cel(
          `${sumOf('weight', MAX_VERSIONS)} == 100`,
          'the weights of spec.versions must sum to 100: change versions[].weight so that they do',
        ),
      ],
    }),
    resources: optional(computeResources('CPU, memory and other resources of each pod.')),
    env: optional(environment('Environment variables of every pod, beside those that the operator sets.', 'resources')),
    scaling,
    healthCheck,
    traffic,
    validation: optional(validation),
    storage: optional(storage),
    scheduling: optional(servingScheduling),
    serviceAccountName: optional(servingAccountName),
    imagePullSecrets: optional(imagePullSecrets),
  },
  { description: 'Which model to serve, in which versions, on how much of the cluster.' },
)

export type ModelDeploymentSpec = Infer<typeof spec>
export type ModelDeploymentStatus = ServingStatus
export type ModelDeployment = CustomObject<ModelDeploymentSpec, ModelDeploymentStatus>

export const modelDeploymentV1 = {
  name: 'v1',
  storage: true,
  description: 'A model that answers requests: its versions, their traffic, their scale and their health.',
  spec,
  status: servingStatus,
  rules: [
    cel(
      'self.spec.versions.all(version, size(self.metadata.name) + size(version.name) < 63)',
      'metadata.name and spec.versions[].name together must be shorter than 63 characters, because {name}-{version} names a Service: shorten one',
      { fieldPath: '.spec.versions' },
    ),
  ],
  columns: [
    { name: 'Framework', type: 'string', jsonPath: '.spec.framework', description: 'Framework of the model.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How the model fares.' },
    {
      name: 'Replicas',
      type: 'integer',
      jsonPath: '.status.activeVersions[0].replicas',
      description: 'Pods of the first version.',
    },
    AGE,
    { name: 'Model', type: 'string', jsonPath: '.spec.modelName', description: 'Name of the model.', wide: true },
    ...servingColumns,
  ],
} as const satisfies KindVersion
