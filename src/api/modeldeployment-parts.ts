/** What both groups' ModelDeployments say about a model that is being served. */

import { conditionsSchema } from './conditions.ts'
import { DNS_LABEL, type Infer, int32, int64, listMap, number, object, optional, strEnum, text } from './schema.ts'

export const MAX_VERSIONS = 16

/** Child objects that a model has once, whatever its versions: a version of the same name would collide with them. */
export const reservedVersionNames = ['config', 'deployment', 'hpa', 'router', 'service', 'vs'] as const

export const servingImage = (description: string, example: string) =>
  text({ description, minLength: 1, maxLength: 512, pattern: '^[^\\s]+$', examples: [example] })

export const versionName = (description: string, options: { readonly default?: string } = {}) =>
  text({
    description,
    minLength: 1,
    maxLength: 40,
    pattern: DNS_LABEL,
    examples: ['v1'],
    rules: [
      {
        rule: `!(self in [${reservedVersionNames.map((name) => `'${name}'`).join(', ')}])`,
        message: `the name of a version must not be one of ${reservedVersionNames.join(', ')}, which name other parts of the model: choose another name`,
      },
    ],
    ...options,
  })

const activeVersion = object(
  {
    name: versionName('Name of the version.'),
    replicas: optional(int32({ description: 'Pods that serve it.', minimum: 0 })),
    healthyReplicas: optional(int32({ description: 'Those of them that pass the health check.', minimum: 0 })),
  },
  { description: 'One version.' },
)

const rate = (description: string) => optional(number({ description, minimum: 0 }))

export const servingStatus = object(
  {
    phase: optional(
      strEnum(['Pending', 'Running', 'Failed', 'Degraded'], {
        description:
          'How the model fares. Pending: not serving yet; Running: all replicas healthy; Degraded: serving with some unhealthy; Failed.',
      }),
    ),
    activeVersions: optional(
      listMap(activeVersion, ['name'], { description: 'Versions that run.', maxItems: 2 * MAX_VERSIONS }),
    ),
    metrics: optional(
      object(
        {
          requestsPerSecond: rate('Requests per second.'),
          averageLatencyMs: rate('Average time to answer, in milliseconds.'),
          errorRate: rate('Share of requests that fail, 0 to 1.'),
        },
        { description: 'Live traffic, over all versions.' },
      ),
    ),
    observedGeneration: optional(
      int64({ description: 'The generation of the spec that this status speaks of.', minimum: 0 }),
    ),
    conditions: optional(conditionsSchema),
  },
  { description: 'What is known about the model. Written by the operator.' },
)

export type ServingStatus = Infer<typeof servingStatus>
