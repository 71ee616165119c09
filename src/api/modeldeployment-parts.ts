/** What both groups' ModelDeployments say about a model that is being served. */

import { conditionsSchema } from './conditions.ts'
import type { Column } from './kind.ts'
import {
  cel,
  dateTime,
  DNS_LABEL,
  type Infer,
  int32,
  int64,
  listMap,
  number,
  object,
  optional,
  staysInside,
  strEnum,
  text,
} from './schema.ts'
import { trafficProviders } from './serving-traffic.ts'

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

/** Where a model may come from, as a user writes it. Credentials in it would be for everybody to read. */
export const modelChecksum = text({
  description:
    'What the model has to hash to, of those that are fetched: the SHA-256 of a single file, or of the sha256sum listing of several. ' +
    'A model that is something else is not served.',
  pattern: '^sha256:[0-9a-f]{64}$',
  maxLength: 71,
  examples: [`sha256:${'0123456789abcdef'.repeat(4)}`],
})

export const modelPath = text({
  description:
    'Where the model artifacts are: an s3, gs, http, https or hf (owner/model) URI; pvc://claim/path; or an absolute path inside the image.',
  maxLength: 1024,
  rules: [
    cel(
      `self.matches('^(((s3|gs|https?|hf|pvc)://[^/@\\\\s]+(/[^\\\\s]*)?)|(/[^\\\\s]*))$')`,
      'modelPath must be an s3, gs, https, http, hf or pvc URI without credentials, or an absolute path inside the image: write e.g. s3://bucket/path or pvc://claim/path',
    ),
    staysInside('modelPath'),
  ],
  examples: ['s3://models/sentiment/v1/model.pt'],
})

const rate = (description: string) => optional(number({ description, minimum: 0 }))

const rates = (description: string) =>
  optional(
    object(
      {
        requestsPerSecond: rate('Requests per second.'),
        averageLatencyMs: rate('Average time to answer, in milliseconds.'),
        errorRate: rate('Share of requests that fail, 0 to 1.'),
      },
      { description },
    ),
  )

const activeVersion = object(
  {
    name: versionName('Name of the version.'),
    replicas: optional(int32({ description: 'Pods that serve it.', minimum: 0 })),
    healthyReplicas: optional(int32({ description: 'Those of them that pass the health check.', minimum: 0 })),
    weight: optional(
      int32({
        description: 'Percent of the traffic that it is given now. The weights of all sum to 100.',
        minimum: 0,
        maximum: 100,
      }),
    ),
    idleSince: optional(
      dateTime({
        description: 'Since when it gets no traffic any more. It goes when requests under way have had time to end.',
      }),
    ),
    validated: optional(
      text({ description: 'Digest of what has passed its validation.', maxLength: 64, examples: ['5f2c91aa'] }),
    ),
    reason: optional(
      text({
        description: 'What it waits for or suffers from, as one CamelCase word.',
        maxLength: 128,
        examples: ['ImagePullFailed'],
      }),
    ),
    message: optional(
      text({
        description: 'The same for people, and what to do about it.',
        maxLength: 1024,
        examples: ['waits for a node'],
      }),
    ),
    metrics: rates('Live traffic of this version.'),
  },
  { description: 'One version.' },
)

const trafficStatus = object(
  {
    provider: strEnum(['direct', ...trafficProviders], {
      description: 'What the Service of the model leads to now; `direct`: straight to the pods of the one version.',
    }),
    previous: optional(
      strEnum(['direct', ...trafficProviders], {
        description: 'What it led to before, kept until requests under way have ended.',
      }),
    ),
    since: optional(dateTime({ description: 'When the Service was turned from the one to the other.' })),
  },
  { description: 'How traffic reaches the versions.' },
)

export const servingStatus = object(
  {
    phase: optional(
      strEnum(['Pending', 'Running', 'Failed', 'Degraded'], {
        description:
          'How the model fares. Pending: not serving yet; Running: all replicas healthy; Degraded: serving with some unhealthy; Failed.',
      }),
    ),
    activeVersions: optional(
      listMap(activeVersion, ['name'], { description: 'Versions that run.', maxItems: 4 * MAX_VERSIONS }),
    ),
    metrics: rates('Live traffic, over all versions.'),
    url: optional(
      text({
        description: 'Where the model answers inside the cluster.',
        maxLength: 512,
        examples: ['http://sentiment-service.ml-models.svc:8080'],
      }),
    ),
    traffic: optional(trafficStatus),
    message: optional(
      text({
        description: 'What is going on and why, in one sentence.',
        maxLength: 1024,
        examples: ['v1 serves with 2 of 2 pods'],
      }),
    ),
    observedGeneration: optional(
      int64({ description: 'The generation of the spec that this status speaks of.', minimum: 0 }),
    ),
    conditions: optional(conditionsSchema),
  },
  { description: 'What is known about the model. Written by the operator.' },
)

export type ServingStatus = Infer<typeof servingStatus>
export type ActiveVersion = Infer<typeof activeVersion>
export type TrafficStatus = Infer<typeof trafficStatus>
export type TrafficWay = TrafficStatus['provider']

/** What `kubectl get -o wide` adds for both kinds. */
export const servingColumns: readonly Column[] = [
  {
    name: 'Traffic',
    type: 'string',
    jsonPath: '.status.traffic.provider',
    description: 'What divides it.',
    wide: true,
  },
  { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'Where the model answers.', wide: true },
  { name: 'Message', type: 'string', jsonPath: '.status.message', description: 'What is going on.', wide: true },
]
