/** Status and printer columns that the ModelDeployments of both groups share. */

import { versionAutoscaling } from './autoscaling-status.ts'
import { conditionsSchema } from './conditions.ts'
import { versionHealth } from './health-status.ts'
import type { Column } from './kind.ts'
import { dateTime, flag, type Infer, int32, int64, listMap, number, object, optional, strEnum, text } from './schema.ts'
import { revisionHistory, rolloutStatus } from './rollout-status.ts'
import { trafficProviders } from './serving-traffic.ts'
import { MAX_VERSIONS, versionName } from './serving-version.ts'

const rate = (description: string) => optional(number({ description, minimum: 0 }))

const rates = (description: string) =>
  optional(
    object(
      {
        requestsPerSecond: rate('Requests per second.'),
        averageLatencyMs: rate('Average latency in milliseconds.'),
        errorRate: rate('Share of failed requests, from 0 to 1.'),
      },
      { description },
    ),
  )

const rollingUpdate = object(
  {
    template: text({
      description: 'Digest of the pod template that is rolled out.',
      maxLength: 64,
      examples: ['5f2c91aa'],
    }),
    maxSurge: int32({
      description:
        'Pods above the number of replicas while pods are replaced. 0: an old pod ends before a new one starts.',
      minimum: 0,
      maximum: 1,
    }),
    message: text({
      description: 'Why, as observed before the first pod was replaced.',
      maxLength: 512,
      examples: ['Rolling out v2 without surge: 0 of 1 GPU is free'],
    }),
  },
  {
    description:
      'How the pods are replaced, decided by the free GPUs. Present until all pods are replaced, unless a GPU was free.',
  },
)

const activeVersion = object(
  {
    name: versionName('activeVersions[].name', 'Name of the version.'),
    replicas: optional(int32({ description: 'Number of pods.', minimum: 0 })),
    healthyReplicas: optional(int32({ description: 'Number of pods that pass the health check.', minimum: 0 })),
    weight: optional(
      int32({
        description: 'Current share of the traffic in percent. The weights of all versions sum to 100.',
        minimum: 0,
        maximum: 100,
      }),
    ),
    idleSince: optional(
      dateTime({
        description: 'Time since when the version gets no traffic. It is removed after the drain period.',
      }),
    ),
    hasBeenReady: optional(
      flag({ description: 'Whether a pod of the version has been ready. Until then, the version is starting.' }),
    ),
    validated: optional(
      text({ description: 'Digest of the validated configuration.', maxLength: 64, examples: ['5f2c91aa'] }),
    ),
    reason: optional(
      text({
        description: 'Reason in CamelCase why the version is not ready.',
        maxLength: 128,
        examples: ['ImagePullFailed'],
      }),
    ),
    message: optional(
      text({
        description: 'Human-readable explanation, with the next step.',
        maxLength: 1024,
        examples: ['Waiting for a node'],
      }),
    ),
    rollingUpdate: optional(rollingUpdate),
    health: optional(versionHealth),
    autoscaling: optional(versionAutoscaling),
    metrics: rates('Traffic of this version.'),
  },
  { description: 'Status of a version.' },
)

const trafficStatus = object(
  {
    provider: strEnum(['direct', ...trafficProviders], {
      description:
        'Provider that the Service of the model leads to. `direct`: the pods of a single version, without a split.',
    }),
    previous: optional(
      strEnum(['direct', ...trafficProviders], {
        description: 'Previous provider, kept until the drain period ends.',
      }),
    ),
    since: optional(dateTime({ description: 'Time when the Service was switched to the provider.' })),
  },
  { description: 'Traffic provider in use.' },
)

export const servingStatus = object(
  {
    phase: optional(
      strEnum(['Pending', 'Running', 'Failed', 'Degraded'], {
        description:
          'Phase of the model. Pending: not serving yet; Running: serving; Degraded: serving with unhealthy pods or versions; Failed.',
      }),
    ),
    replicas: optional(int32({ description: 'Number of pods of all versions.', minimum: 0 })),
    ready: optional(
      text({
        description: 'Number of ready pods, and number of pods of all versions.',
        maxLength: 32,
        examples: ['5/5'],
      }),
    ),
    weights: optional(
      text({
        description: 'Current share of the traffic of each version in percent.',
        maxLength: 4096,
        examples: ['v1:90 v2:10'],
      }),
    ),
    requestRate: optional(
      text({
        description: 'Requests per second of all versions; `-` if the traffic provider does not report them.',
        maxLength: 32,
        examples: ['12.5'],
      }),
    ),
    activeVersions: optional(
      listMap(activeVersion, ['name'], { description: 'Status of each version.', maxItems: 4 * MAX_VERSIONS }),
    ),
    metrics: rates('Traffic of all versions.'),
    url: optional(
      text({
        description: 'URL of the model inside the cluster.',
        maxLength: 512,
        examples: ['http://sentiment-service.ml-models.svc:8080'],
      }),
    ),
    traffic: optional(trafficStatus),
    rollout: optional(rolloutStatus),
    history: optional(revisionHistory),
    message: optional(
      text({
        description: 'Human-readable summary of the status.',
        maxLength: 1024,
        examples: ['v1 has 2 of 2 pods ready'],
      }),
    ),
    observedGeneration: optional(
      int64({ description: 'Generation of the spec that this status is based on.', minimum: 0 }),
    ),
    conditions: optional(conditionsSchema),
  },
  { description: 'Observed state of the model. Set by the operator.' },
)

export type ServingStatus = Infer<typeof servingStatus>
export type ActiveVersion = Infer<typeof activeVersion>
export type RollingUpdate = Infer<typeof rollingUpdate>
export type TrafficStatus = Infer<typeof trafficStatus>
export type TrafficWay = TrafficStatus['provider']

/** Columns of both kinds, after those of each kind. */
export const servingColumns: readonly Column[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.ready',
    description: 'Number of ready pods, and number of pods of all versions.',
  },
  {
    name: 'Versions',
    type: 'string',
    jsonPath: '.status.weights',
    description: 'Current share of the traffic of each version in percent.',
  },
  { name: 'RPS', type: 'string', jsonPath: '.status.requestRate', description: 'Requests per second.' },
  { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'URL of the model inside the cluster.' },
  {
    name: 'Traffic',
    type: 'string',
    jsonPath: '.status.traffic.provider',
    description: 'Traffic provider in use.',
    wide: true,
  },
  { name: 'Message', type: 'string', jsonPath: '.status.message', description: 'Summary of the status.', wide: true },
]
