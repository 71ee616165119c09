/** A worker of a TrainingJob that is much slower than the others. */

import { type Infer, int32, object, optional, text } from './schema.ts'

export const slowestWorker = object(
  {
    worker: int32({ description: 'Rank of the worker.', minimum: 0 }),
    podName: text({ description: 'Pod of the worker.', maxLength: 253, examples: ['bert-workers-3'] }),
    node: optional(text({ description: 'Node of the pod.', maxLength: 253, examples: ['gpu-node-7'] })),
    timesSlower: int32({
      description: 'How many times slower it was than the median when it was noticed.',
      minimum: 1,
    }),
  },
  {
    description:
      'A worker that is at least ten times slower than the median of the workers for five minutes, if at least three ranks report ' +
      '`throughput`, `stepTime` or their step. A hint: the operator does nothing about it.',
  },
)

export type SlowestWorker = Infer<typeof slowestWorker>
