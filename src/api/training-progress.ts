/** Where the operator reads the progress of a TrainingJob whose pods do not report it. */

import { cel, type Infer, int32, object, optional, text } from './schema.ts'

const metrics = object(
  {
    port: int32({ description: 'Port of the page in the pod.', minimum: 1, maximum: 65535, examples: [8080] }),
    path: text({
      description: 'Path of the page.',
      pattern: '^/[A-Za-z0-9._~/-]*$',
      maxLength: 253,
      default: '/metrics',
    }),
  },
  {
    description:
      'A page of metrics in the text format of Prometheus that rank 0 serves. The operator reads epoch, step, loss and others ' +
      'from it, about every twelve seconds, while the job runs.',
    examples: [{ port: 8080, path: '/metrics' }],
  },
)

export const progress = object(
  { metrics: optional(metrics) },
  {
    description:
      'Where to read the progress from, if the workers do not report it. If omitted, the log of rank 0 is read.',
    rules: [
      cel('has(self.metrics)', 'progress must have metrics: set progress.metrics.port, or remove progress', {
        fieldPath: '.metrics',
        reason: 'FieldValueRequired',
      }),
    ],
  },
)

export type ProgressOptions = Infer<typeof progress>
