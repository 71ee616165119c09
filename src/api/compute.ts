/** Compute resources of one container: what it asks for and what it may use at most. */

import { cel, type Infer, mapOf, object, optional, quantity } from './schema.ts'

const MAX_RESOURCES = 16

const amounts = (description: string, examples: readonly unknown[]) =>
  mapOf(quantity({ description: 'An amount, e.g. `500m` of a CPU, `2Gi` of memory or `1` GPU.' }), {
    description,
    examples,
    maxProperties: MAX_RESOURCES,
  })

export const computeResources = (description: string) =>
  object(
    {
      requests: optional(
        amounts('What is set aside for the container, by resource name.', [{ cpu: '1', memory: '2Gi' }]),
      ),
      limits: optional(
        amounts('What the container may use at most, by resource name. GPUs go here.', [
          { cpu: '2', memory: '4Gi', 'nvidia.com/gpu': '1' },
        ]),
      ),
    },
    {
      description,
      rules: [
        cel(
          '!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || ' +
            'quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)',
          'resources.requests must not exceed resources.limits: lower the request or raise the limit of the same resource',
          { fieldPath: '.requests' },
        ),
      ],
    },
  )

export type ComputeResources = Infer<ReturnType<typeof computeResources>>
