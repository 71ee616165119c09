/** ModelDeployment v1 of mlops.sathvik.dev: one model in one version on a known runtime, served by the same planner. */

import { computeResources } from './compute.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import {
  servingColumns,
  type ServingStatus,
  servingImage,
  servingStatus,
  versionName,
} from './modeldeployment-parts.ts'
import { cel, flag, type Infer, object, optional, staysInside, strEnum, text } from './schema.ts'
import { validationScript } from './serving-pod.ts'

const spec = object(
  {
    modelURI: text({
      description: 'Where the model artifact is: an https, http, S3 or Cloud Storage URI.',
      maxLength: 2048,
      rules: [
        cel(
          `self.matches('^(https?|s3|gs)://[^/@\\\\s]+(/[^\\\\s]*)?$')`,
          'modelURI must be an https, http, s3 or gs URI without credentials: write e.g. https://host/path or s3://bucket/path',
        ),
        staysInside('modelURI'),
      ],
      examples: ['https://example.com/model.pt'],
    }),
    runtime: strEnum(['triton', 'torchserve', 'fastapi-pytorch'], { description: 'Server that runs the model.' }),
    runtimeImage: optional(
      servingImage('Image to run instead of the one that belongs to the runtime.', 'localhost/fastapi-pytorch:dev'),
    ),
    resources: optional(computeResources('CPU, memory and other resources of each pod.')),
    validateScript: optional(validationScript('validateScript')),
    autoscale: flag({ description: 'Let the number of pods follow the load.', default: false }),
    version: versionName(
      'Version of the model. A new one takes over when it is ready; until then the last one serves.',
      { default: 'v1' },
    ),
  },
  { description: 'Which model to serve, and on what.' },
)

export type MlopsModelDeploymentSpec = Infer<typeof spec>
export type MlopsModelDeployment = CustomObject<MlopsModelDeploymentSpec, ServingStatus>

export const mlopsModelDeploymentV1 = {
  name: 'v1',
  storage: true,
  description: 'A model that answers requests, described by its artifact and its runtime.',
  spec,
  status: servingStatus,
  rules: [
    cel(
      'size(self.metadata.name) + size(self.spec.version) < 63',
      'metadata.name and spec.version together must be shorter than 63 characters, because {name}-{version} names a Service: shorten one',
      { fieldPath: '.spec.version' },
    ),
  ],
  columns: [
    { name: 'Runtime', type: 'string', jsonPath: '.spec.runtime', description: 'Server that runs the model.' },
    { name: 'Version', type: 'string', jsonPath: '.spec.version', description: 'Version of the model.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How the model fares.' },
    AGE,
    ...servingColumns,
  ],
} as const satisfies KindVersion
