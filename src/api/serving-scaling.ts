/** Autoscaling of the versions of a model. */

import { cel, type Infer, int32, object, optional } from './schema.ts'

const replicas = (description: string) => ({ description, minimum: 1 })

const percent = (description: string) => ({ description, minimum: 1, maximum: 100 })

const cpu = percent('Target CPU utilization in percent of the request.')

/** Targets other than CPU. If several are set, the highest resulting number of pods applies. */
const targets = {
  targetMemoryUtilization: optional(int32(percent('Target memory utilization in percent of the request.'))),
  targetRequestsPerSecond: optional(
    int32({
      description:
        'Target number of requests per second and pod. Needs the traffic provider router or a metrics adapter.',
      minimum: 1,
      examples: [50],
    }),
  ),
  targetConcurrency: optional(
    int32({
      description:
        'Target number of requests in progress per pod. Needs the traffic provider router or a metrics adapter.',
      minimum: 1,
      examples: [8],
    }),
  ),
  targetQueueDepth: optional(
    int32({
      description:
        'Target number of queued requests per pod. Needs the traffic provider router, which counts every request in progress ' +
        'beyond one per pod as queued, or a metrics adapter.',
      minimum: 1,
      examples: [4],
    }),
  ),
  targetGPUUtilization: optional(
    int32(percent('Target GPU utilization in percent. Needs a metrics adapter and the DCGM exporter.')),
  ),
}

export const scaling = object(
  {
    minReplicas: int32({ ...replicas('Minimum number of pods per version.'), default: 1 }),
    maxReplicas: int32({ ...replicas('Maximum number of pods per version.'), default: 10 }),
    targetCPUUtilization: int32({ ...cpu, default: 70 }),
    ...targets,
  },
  {
    description: 'Autoscaling of each version.',
    default: {},
    rules: [
      cel(
        'self.minReplicas <= self.maxReplicas',
        'scaling.minReplicas must not be greater than scaling.maxReplicas (default 10): lower minReplicas or raise maxReplicas',
        { fieldPath: '.minReplicas' },
      ),
    ],
  },
)

/** Overrides for one version. */
export const versionScaling = object(
  {
    minReplicas: optional(int32(replicas('Minimum number of pods of this version.'))),
    maxReplicas: optional(
      int32(replicas('Maximum number of pods of this version. If it is below minReplicas, minReplicas applies.')),
    ),
    targetCPUUtilization: optional(int32(cpu)),
    ...targets,
  },
  {
    description: 'Autoscaling of this version. Overrides single fields of spec.scaling.',
    examples: [{ maxReplicas: 2 }],
    rules: [
      cel(
        '!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas',
        'versions[].scaling.minReplicas must not be greater than its maxReplicas: lower minReplicas or raise maxReplicas',
        { fieldPath: '.minReplicas' },
      ),
    ],
  },
)

export type Scaling = Infer<typeof scaling>
