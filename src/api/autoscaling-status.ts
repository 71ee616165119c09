/** What the operator has decided about the number of pods of a version by its requests, in the status. */
import { dateTime, type Infer, int32, list, object, optional } from './schema.ts'

/** Entries of each list at most. */
export const MAX_SCALING_ENTRIES = 16

export const versionAutoscaling = object(
  {
    replicas: int32({
      description: 'Number of pods that was decided. The operator records it before it acts.',
      minimum: 0,
    }),
    changes: optional(
      list(
        object(
          {
            time: dateTime({ description: 'Time of the decision.' }),
            pods: int32({ description: 'Number of pods that were added; negative if pods were removed.' }),
          },
          { description: 'A change of the number of pods.' },
        ),
        { description: 'Last changes. They limit how fast the version grows.', maxItems: MAX_SCALING_ENTRIES },
      ),
    ),
    lower: optional(
      list(
        object(
          {
            since: dateTime({ description: 'Time since when this number has been enough.' }),
            replicas: int32({ description: 'Number of pods.', minimum: 0 }),
          },
          { description: 'A number of pods below the current one.' },
        ),
        {
          description:
            'Numbers of pods that would have been enough, and since when. After five minutes the version shrinks to one of them.',
          maxItems: MAX_SCALING_ENTRIES,
        },
      ),
    ),
  },
  {
    description:
      'Autoscaling of the version by its requests. Absent if another autoscaler, or nobody, changes the number of pods.',
  },
)

export type VersionAutoscaling = Infer<typeof versionAutoscaling>
