/** ModelDeployment v1 of mlops.sathvik.dev: one version of a model on a built-in runtime. Planned like ml.example.com. */

import { computeResources } from './compute.ts'
import { containerImage } from './container-image.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import { modelUriRules } from './model-uri.ts'
import { cel, flag, type Infer, object, optional, staysInside, strEnum, text } from './schema.ts'
import { validationScript } from './serving-pod.ts'
import { servingColumns, servingStatus, type ServingStatus } from './serving-status.ts'
import { versionName } from './serving-version.ts'

const spec = object(
  {
    modelURI: text({
      description: 'Location of the model: an https, http, s3 or gs URI, or oci://registry/repository:tag.',
      maxLength: 2048,
      rules: [
        cel(
          `self.matches('^(https?|s3|gs|oci)://[^/@\\\\s]+(/[^\\\\s]*)?$')`,
          'modelURI must be an https, http, s3, gs or oci URI without credentials: write for example https://host/path or s3://bucket/path',
        ),
        ...modelUriRules('modelURI'),
        staysInside('modelURI'),
      ],
      examples: ['https://example.com/model.pt'],
    }),
    runtime: strEnum(['triton', 'torchserve', 'fastapi-pytorch'], { description: 'Serving runtime.' }),
    runtimeImage: optional(
      containerImage(
        'Container image of the model server. Defaults to the image of the runtime.',
        'localhost/fastapi-pytorch:dev',
      ),
    ),
    resources: optional(computeResources('Compute resources for each pod.')),
    validateScript: optional(validationScript('validateScript')),
    autoscale: flag({ description: 'Whether to scale the number of pods with the load.', default: false }),
    version: versionName('version', 'Version of the model. The previous version serves until the new one is ready.', {
      default: 'v1',
    }),
  },
  { description: 'Desired state of the model.' },
)

export type MlopsModelDeploymentSpec = Infer<typeof spec>
export type MlopsModelDeployment = CustomObject<MlopsModelDeploymentSpec, ServingStatus>

export const mlopsModelDeploymentV1 = {
  name: 'v1',
  storage: true,
  description: 'ModelDeployment serves one version of a model on a built-in runtime.',
  spec,
  status: servingStatus,
  rules: [
    cel(
      'size(self.metadata.name) + size(self.spec.version) < 63',
      'metadata.name and spec.version together must be shorter than 63 characters, because {name}-{version} is the name of a Service: shorten one of them',
      { fieldPath: '.spec.version' },
    ),
  ],
  columns: [
    { name: 'Runtime', type: 'string', jsonPath: '.spec.runtime', description: 'Serving runtime.' },
    { name: 'Version', type: 'string', jsonPath: '.spec.version', description: 'Version of the model.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase of the model.' },
    AGE,
    ...servingColumns,
  ],
} as const satisfies KindVersion
