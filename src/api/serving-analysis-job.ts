/** A Job whose exit code judges a version. */
import { computeResources } from './compute.ts'
import { containerImage } from './container-image.ts'
import { analysisEnvironment } from './environment.ts'
import { type Infer, int32, list, object, optional, text } from './schema.ts'

const words = (description: string, example: readonly string[]) =>
  list(text({ description: 'A word.', maxLength: 4096, examples: ['evaluate.py'] }), {
    description,
    maxItems: 64,
    examples: [example],
  })

export const analysisJob = object(
  {
    image: containerImage('Container image of the Job.', 'registry.example.com/evaluate:v1'),
    command: optional(words('Command, instead of that of the image.', ['python', 'evaluate.py'])),
    args: optional(words('Arguments of the command.', ['--holdout', 's3://data/holdout'])),
    env: optional(
      analysisEnvironment(
        'Environment variables, in addition to MODEL_NAME, MODEL_VERSION, MODEL_URL (the Service of the version), MODEL_WEIGHT, ROLLOUT_REVISION and ROLLOUT_STEP.',
        'job.resources',
      ),
    ),
    resources: optional(computeResources('Compute resources of the Job.')),
    timeoutSeconds: int32({
      description: 'Seconds after which the Job fails, with the time until it starts.',
      minimum: 1,
      maximum: 86_400,
      default: 600,
    }),
  },
  {
    description:
      'A Job that runs once for each new version in each step. Exit code 0: the version passes; any other, or a timeout, ends the rollout.',
    examples: [{ image: 'registry.example.com/evaluate:v1', command: ['python', 'evaluate.py'] }],
  },
)

export type AnalysisJob = Infer<typeof analysisJob>
