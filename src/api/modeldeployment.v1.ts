/** ModelDeployment v1 of ml.example.com: one or more versions of a model, and how traffic is split between them. */

import { computeResources } from './compute.ts'
import { containerImage, imagePullSecrets } from './container-image.ts'
import { runtimeRule } from './default-runtimes.ts'
import { serverEnvironment } from './environment.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import { servingGuards } from './pod-guards.ts'
import { podTemplate } from './pod-template.ts'
import { envFrom, mountedVolumesRule, versionVolumesRule } from './pod-volumes.ts'
import { cel, DNS_LABEL, type Infer, int32, listMap, object, staysInside, text, optional } from './schema.ts'
import { serverArgs, serverVolumeMounts, serverVolumes, versionVolumeMounts, versionVolumes } from './server-pod.ts'
import { servingAccountName, servingScheduling, storage, validationScript, validationTimeout } from './serving-pod.ts'
import { historyLimit, paused, rollbackTo, rollout, rolloutRules } from './serving-rollout.ts'
import { scaling, versionScaling } from './serving-scaling.ts'
import { routingRules } from './serving-rules.ts'
import { traffic } from './serving-traffic.ts'
import { type ServingStatus, servingColumns, servingStatus } from './serving-status.ts'
import { imageChecksumRule, MAX_VERSIONS, modelChecksum, modelPath, versionName } from './serving-version.ts'

/**
 * A CEL expression for the sum of a field, written out term by term. The API server estimates the cost of `map` and `sum`
 * for the worst case, and older releases reject them even for short lists. Terms behind a size check are cheap.
 */
function sumOf(field: string, maxItems: number): string {
  const term = (index: number): string => `(size(self) > ${index} ? self[${index}].${field} : 0)`
  return Array.from({ length: maxItems }, (_, index) => term(index)).join(' + ')
}

const version = object(
  {
    name: versionName(
      'versions[].name',
      'Name of the version. Its Deployment and Service are named {model}-{version}.',
    ),
    weight: int32({
      description: 'Share of the traffic in percent. The weights of all versions sum to 100.',
      minimum: 0,
      maximum: 100,
      examples: [100],
    }),
    modelPath,
    checksum: optional(modelChecksum),
    image: optional(
      containerImage(
        'Container image of this version. Defaults to spec.image.',
        'registry.example.com/sentiment-model:v2.0.0',
      ),
    ),
    resources: optional(computeResources('Compute resources for each pod of this version. Replaces spec.resources.')),
    scaling: optional(versionScaling),
    args: optional(serverArgs('Arguments of this version, after spec.args.')),
    env: optional(
      serverEnvironment('Environment variables of this version. They take precedence over spec.env.', 'resources'),
    ),
    envFrom: optional(envFrom),
    volumes: optional(versionVolumes),
    volumeMounts: optional(versionVolumeMounts),
    podTemplate: optional(
      podTemplate('Additions to the pods of this version, merged after spec.podTemplate.', servingGuards),
    ),
  },
  { description: 'A version of the model.', rules: [imageChecksumRule] },
)

const positive = (description: string, fallback: number) => int32({ description, minimum: 1, default: fallback })

const healthCheck = object(
  {
    endpoint: text({
      description: 'HTTP path that returns 200 while the server is healthy. Called on the serving port of each pod.',
      maxLength: 512,
      pattern: '^/([^/\\s?#][^\\s?#]*)?$',
      default: '/health',
      rules: [staysInside('healthCheck.endpoint')],
    }),
    intervalSeconds: positive('Seconds between checks of a pod.', 30),
    timeoutSeconds: positive('Seconds after which a check times out.', 5),
    failureThreshold: positive('Number of consecutive failed checks after which a pod is unhealthy.', 3),
  },
  {
    description: 'Health check of the pods. Values other than the defaults replace those of the runtime.',
    default: {},
  },
)

const validation = object(
  {
    script: validationScript('validation.script'),
    image: optional(
      containerImage(
        'Container image to run the script in. Defaults to the image of the version.',
        'registry.example.com/validator:v1',
      ),
    ),
    timeoutSeconds: validationTimeout,
  },
  { description: 'Validation of each version before it gets traffic.', examples: [{ script: 'validate.py' }] },
)

const spec = object(
  {
    modelName: text({
      description: 'Name of the model on the model server.',
      minLength: 1,
      maxLength: 253,
      examples: ['sentiment-classifier'],
      rules: [staysInside('modelName')],
    }),
    framework: text({
      description:
        'Framework of the model. `tensorflow`, `sklearn` and `onnx` have a default runtime. With `runtime` or `image`, any name is allowed.',
      minLength: 1,
      maxLength: 63,
      pattern: '^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$',
      examples: ['pytorch'],
    }),
    runtime: optional(
      text({
        description:
          'Serving runtime: the name of a ModelServer in the namespace, or one of triton, torchserve, fastapi-pytorch, sklearn, onnx, ' +
          'tensorflow and vllm. Defaults to no runtime if `image` is set, or else to the runtime of the framework; pytorch has none.',
        minLength: 1,
        maxLength: 63,
        pattern: DNS_LABEL,
        examples: ['triton'],
        rules: [
          cel(
            `self.matches('${DNS_LABEL}')`,
            'runtime must be the name of a ModelServer or of a built-in runtime, in lower case: write for example triton',
          ),
        ],
      }),
    ),
    image: optional(
      containerImage(
        'Container image of the model server. Replaces the image of the runtime. Without a runtime it must listen on port 8080.',
        'registry.example.com/sentiment-model:v1.0.0',
      ),
    ),
    versions: listMap(version, ['name'], {
      description: 'Versions to serve, with their shares of the traffic.',
      minItems: 1,
      maxItems: MAX_VERSIONS,
      rules: [cel(`${sumOf('weight', MAX_VERSIONS)} == 100`, 'versions[].weight must sum to 100: change the weights')],
    }),
    resources: optional(computeResources('Compute resources for each pod.')),
    args: optional(
      serverArgs(
        'Arguments of the server, after those of the runtime. `$(MODEL_NAME)` and `$(MODEL_PATH)` are replaced, and `$(DEVICE_COUNT)` by the number of GPUs of the pod (1 without GPUs).',
      ),
    ),
    env: optional(
      serverEnvironment(
        'Environment variables for every pod, in addition to those that the operator sets.',
        'resources',
      ),
    ),
    envFrom: optional(envFrom),
    volumes: optional(serverVolumes),
    volumeMounts: optional(serverVolumeMounts),
    scaling,
    healthCheck,
    traffic,
    rollout: optional(rollout),
    paused: optional(paused),
    historyLimit: optional(historyLimit),
    rollbackTo: optional(rollbackTo),
    validation: optional(validation),
    storage: optional(storage),
    scheduling: optional(servingScheduling),
    serviceAccountName: optional(servingAccountName),
    imagePullSecrets: optional(imagePullSecrets),
    podTemplate: optional(
      podTemplate(
        'Additions to the pods of every version: whatever a PodSpec has and other fields do not.',
        servingGuards,
      ),
    ),
  },
  {
    description: 'Desired state of the model.',
    rules: [runtimeRule, mountedVolumesRule, versionVolumesRule, ...rolloutRules, ...routingRules],
  },
)

export type ModelDeploymentSpec = Infer<typeof spec>
export type ModelDeploymentStatus = ServingStatus
export type ModelDeployment = CustomObject<ModelDeploymentSpec, ModelDeploymentStatus>

export const modelDeploymentV1 = {
  name: 'v1',
  storage: true,
  description: 'ModelDeployment serves one or more versions of a model and splits traffic between them.',
  spec,
  status: servingStatus,
  rules: [
    cel(
      'self.spec.versions.all(version, size(self.metadata.name) + size(version.name) < 63)',
      'metadata.name and spec.versions[].name together must be shorter than 63 characters, because {name}-{version} is the name of a Service: shorten one of them',
      { fieldPath: '.spec.versions' },
    ),
  ],
  columns: [
    { name: 'Framework', type: 'string', jsonPath: '.spec.framework', description: 'Framework of the model.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase of the model.' },
    {
      name: 'Replicas',
      type: 'integer',
      jsonPath: '.status.replicas',
      description: 'Number of pods of all versions.',
    },
    AGE,
    ...servingColumns,
    { name: 'Model', type: 'string', jsonPath: '.spec.modelName', description: 'Name of the model.', wide: true },
  ],
} as const satisfies KindVersion
