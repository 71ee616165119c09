/** The model that a TrainingJob produces, and what happens to it after the training. */

import { computeResources } from './compute.ts'
import { containerImage } from './container-image.ts'
import { modelUriRules } from './model-uri.ts'
import { cel, DNS_LABEL, type Infer, int32, object, optional, type Rule, staysInside, text } from './schema.ts'
import { reservedVersionNames, versionName } from './serving-version.ts'

const MODEL_URI = '^(s3|gs|az|https?|hf|pvc|oci)://[^/@\\\\s]+(/[^\\\\s]*)?$'

const path = text({
  description:
    'Location of the model: a path below the directory of the checkpoints, or an s3, gs, az, http, https, hf, pvc or oci URI. ' +
    'The operator never reads it.',
  minLength: 1,
  maxLength: 512,
  examples: ['model/model.pt'],
  rules: [
    cel(
      `self.matches('^[^/\\\\s:][^\\\\s:]*$') || self.matches('${MODEL_URI}')`,
      'output.path must be a relative path, or an s3, gs, az, https, http, hf, pvc or oci URI without credentials: write for example model/model.pt or s3://bucket/path',
    ),
    ...modelUriRules('output.path'),
    staysInside('output.path'),
  ],
})

const NEW_MODEL = 'For a ModelDeployment that does not exist yet: '

const deploy = object(
  {
    name: text({
      description:
        'Name of a ModelDeployment in the namespace. If it exists, the version is added with weight 0, or changed while its ' +
        'weight is 0. Otherwise it is created, with all traffic for the version.',
      minLength: 1,
      maxLength: 61,
      pattern: DNS_LABEL,
      examples: ['sentiment'],
    }),
    version: optional(
      versionName('output.deploy.version', 'Name of the version. Defaults to the name of the TrainingJob.'),
    ),
    modelName: optional(
      text({
        description: `${NEW_MODEL}name of the model on the model server. Defaults to \`name\`.`,
        minLength: 1,
        maxLength: 253,
        examples: ['sentiment-classifier'],
        rules: [staysInside('output.deploy.modelName')],
      }),
    ),
    framework: optional(
      text({
        description: `${NEW_MODEL}format of the model. Defaults to the framework of the job.`,
        minLength: 1,
        maxLength: 63,
        pattern: '^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$',
        examples: ['onnx'],
      }),
    ),
    runtime: optional(
      text({
        description: `${NEW_MODEL}serving runtime, the name of a ModelServer or of a built-in runtime.`,
        minLength: 1,
        maxLength: 63,
        pattern: DNS_LABEL,
        examples: ['fastapi-pytorch'],
      }),
    ),
    image: optional(
      containerImage(`${NEW_MODEL}container image of the model server.`, 'registry.example.com/sentiment-model:v1.0.0'),
    ),
    resources: optional(computeResources(`${NEW_MODEL}compute resources for each pod.`)),
  },
  {
    description: 'The ModelDeployment that gets the model as a version when the job completes.',
    examples: [{ name: 'sentiment', runtime: 'fastapi-pytorch' }],
  },
)

const registerAs = text({
  description:
    'Name of a registered model in MLflow that gets the model as a version when the job completes. The prefix of the operator’s ' +
    'configuration, by default the namespace, precedes it.',
  minLength: 1,
  maxLength: 200,
  pattern: '^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$',
  examples: ['sentiment'],
})

export const output = object(
  { path, registerAs: optional(registerAs), deploy: optional(deploy) },
  { description: 'The trained model, and what happens to it when the job completes.' },
)

const isUri = `self.output.path.contains('://')`

/** Of the spec of a job. */
export const outputRules: readonly Rule[] = [
  cel(
    `!has(self.output) || ${isUri} || self.checkpoint.enabled`,
    'output.path must be a URI when checkpoint.enabled is false, because there is no directory of checkpoints: write for example s3://bucket/path, or set checkpoint.enabled to true',
    { fieldPath: '.output.path' },
  ),
  cel(
    `!has(self.output) || !has(self.output.deploy) || ${isUri} || !self.checkpoint.deleteOnCompletion`,
    'checkpoint.deleteOnCompletion must be false with output.deploy and a relative output.path, because the files of the deployed model would be deleted with the job: set it to false, or write the model to a URI',
    { fieldPath: '.checkpoint.deleteOnCompletion' },
  ),
]

const DEPLOYED = 'has(self.spec.output) && has(self.spec.output.deploy)'
const VERSION = '(has(self.spec.output.deploy.version) ? self.spec.output.deploy.version : self.metadata.name)'

/** Of a job: its name is the default name of the version. */
export const deployedVersionRules: readonly Rule[] = [
  cel(
    `!(${DEPLOYED}) || size(self.spec.output.deploy.name) + size(${VERSION}) < 63`,
    'output.deploy.name and output.deploy.version (by default metadata.name) together must be shorter than 63 characters, because {name}-{version} is the name of a Service: shorten one of them',
    { fieldPath: '.spec.output.deploy' },
  ),
  cel(
    `!(${DEPLOYED}) || has(self.spec.output.deploy.version) || ` +
      `(self.metadata.name.matches('${DNS_LABEL}') && size(self.metadata.name) <= 40 && ` +
      `!(self.metadata.name in [${reservedVersionNames.map((name) => `'${name}'`).join(', ')}]))`,
    'output.deploy.version is required, because metadata.name is not the name of a version: set output.deploy.version to a name with at most 40 characters that begins with a letter',
    { fieldPath: '.spec.output.deploy' },
  ),
]

const target = {
  name: text({ description: 'Name of the ModelDeployment.', maxLength: 63, examples: ['sentiment'] }),
  version: text({ description: 'Name of the version.', maxLength: 40, examples: ['v2'] }),
  weight: int32({ description: 'Weight of the version.', minimum: 0, maximum: 100 }),
}

export const outputStatus = object(
  {
    modelPath: optional(
      text({
        description: 'Location of the trained model as a URI.',
        maxLength: 2048,
        examples: ['pvc://sentiment-checkpoints/model/model.pt'],
      }),
    ),
    deploying: optional(
      object(target, {
        description:
          'The version that is being written to a ModelDeployment. Recorded before it is written, and removed after.',
      }),
    ),
    deployed: optional(
      object(target, {
        description: 'The version that the ModelDeployment got, and its weight at that time. It is written once.',
      }),
    ),
    registered: optional(
      object(
        {
          name: text({ description: 'Name of the registered model.', maxLength: 512, examples: ['team-a.sentiment'] }),
          version: text({ description: 'Version of the registered model.', maxLength: 64, examples: ['3'] }),
        },
        { description: 'The version of the model in MLflow.' },
      ),
    ),
  },
  { description: 'What happened to the trained model.' },
)

export type TrainingOutput = Infer<typeof output>
export type DeployedVersion = NonNullable<OutputStatus['deployed']>
export type OutputStatus = Infer<typeof outputStatus>
