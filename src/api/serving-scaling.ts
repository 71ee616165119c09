/** How many pods serve a version, and what their number follows. */

import { cel, type Infer, int32, object, optional } from './schema.ts'

const replicas = (description: string) => ({ description, minimum: 1 })

const percent = (description: string) => ({ description, minimum: 1, maximum: 100 })

const cpu = percent('CPU use, in percent of the request, that the number of pods is steered towards.')

/** Targets beside CPU. Where several are set, the one that asks for most pods counts. */
const targets = {
  targetMemoryUtilization: optional(
    int32(percent('Memory use, in percent of the request, that the number of pods is steered towards.')),
  ),
  targetRequestsPerSecond: optional(
    int32({
      description: 'Requests per second and pod that the number of pods is steered towards. Needs a metrics adapter.',
      minimum: 1,
      examples: [50],
    }),
  ),
  targetQueueDepth: optional(
    int32({
      description: 'Waiting requests per pod that the number of pods is steered towards. Needs a metrics adapter.',
      minimum: 1,
      examples: [4],
    }),
  ),
  targetGPUUtilization: optional(
    int32(
      percent(
        'GPU use in percent that the number of pods is steered towards. Needs a metrics adapter and the DCGM exporter.',
      ),
    ),
  ),
}

export const scaling = object(
  {
    minReplicas: int32({ ...replicas('The fewest pods of a version.'), default: 1 }),
    maxReplicas: int32({ ...replicas('The most pods of a version.'), default: 10 }),
    targetCPUUtilization: int32({ ...cpu, default: 70 }),
    ...targets,
  },
  {
    description: 'How many pods serve each version.',
    default: {},
    rules: [
      cel(
        'self.minReplicas <= self.maxReplicas',
        'scaling.minReplicas must not be greater than scaling.maxReplicas (10 if absent): lower minReplicas or raise maxReplicas',
        { fieldPath: '.minReplicas' },
      ),
    ],
  },
)

/** What one version does differently. */
export const versionScaling = object(
  {
    minReplicas: optional(int32(replicas('The fewest pods of this version.'))),
    maxReplicas: optional(int32(replicas('The most pods of this version; never fewer than minReplicas.'))),
    targetCPUUtilization: optional(int32(cpu)),
    ...targets,
  },
  { description: 'Scaling of this version, where it differs from spec.scaling.', examples: [{ maxReplicas: 2 }] },
)

export type Scaling = Infer<typeof scaling>
