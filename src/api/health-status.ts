/** What the health checks of a version found, and the eviction that is under way, in the status. */
import { dateTime, type Infer, int32, object, optional, strEnum, text } from './schema.ts'

const eviction = object(
  {
    pod: text({ description: 'Name of the pod.', maxLength: 253, examples: ['sentiment-v1-5d9c7b6f4-x2x7k'] }),
    uid: text({
      description: 'uid of the pod.',
      maxLength: 64,
      examples: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'],
    }),
    reason: strEnum(['HealthCheckFailing', 'TooManyRestarts'], { description: 'Why the pod is evicted.' }),
    message: text({
      description: 'What was observed of the pod.',
      maxLength: 256,
      examples: ['/health answered HTTP 500, 3 times in a row'],
    }),
  },
  { description: 'Pod that is being evicted. The operator records it before it evicts the pod.' },
)

export const versionHealth = object(
  {
    failing: optional(
      int32({ description: 'Number of pods that fail their health check, or restart too often.', minimum: 0 }),
    ),
    unreachable: optional(
      int32({
        description: 'Number of pods that the operator cannot connect to. They are not judged.',
        minimum: 0,
      }),
    ),
    evicting: optional(eviction),
    evictions: optional(
      int32({ description: 'Number of pods evicted one after another. The delay grows with it.', minimum: 0 }),
    ),
    lastEvictionTime: optional(dateTime({ description: 'Time when the last pod was evicted.' })),
  },
  { description: 'Health checks of the version by the operator. Absent if there is nothing to report.' },
)

export type VersionHealth = Infer<typeof versionHealth>
export type Eviction = Infer<typeof eviction>
