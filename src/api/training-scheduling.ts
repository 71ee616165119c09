/** Scheduling of the pods of a TrainingJob. */

import { labelKey } from './affinity.ts'
import { placement } from './placement.ts'
import { type Infer, object, objectName, optional } from './schema.ts'

export const scheduling = object(
  {
    schedulerName: optional(objectName('Scheduler of the pods. Defaults to the scheduler of the cluster.', 'volcano')),
    ...placement,
    topologyKey: optional(
      labelKey(
        'Node label. All pods of the job run on nodes with the same value of it, for example in one zone or rack.',
      ),
    ),
  },
  { description: 'Scheduling constraints of the pods.' },
)

export type Scheduling = Infer<typeof scheduling>
