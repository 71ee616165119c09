/** Compute resources of a container: requests and limits. */

import { cel, type Infer, mapOf, object, optional, quantity } from './schema.ts'

const MAX_RESOURCES = 16

/** The API server rejects pods with other names, such as `gpu`. */
const knownNames = cel(
  `self.all(name, name in ['cpu', 'memory', 'ephemeral-storage'] || name.contains('/') || name.startsWith('hugepages-'))`,
  'names in resources.requests and resources.limits must be cpu, memory, ephemeral-storage, hugepages-SIZE or have a domain: write for example nvidia.com/gpu',
)

const amounts = (description: string, examples: readonly unknown[]) =>
  mapOf(quantity({ description: 'A quantity, such as `500m` of CPU, `2Gi` of memory or `1` GPU.' }), {
    description,
    examples,
    maxProperties: MAX_RESOURCES,
    rules: [knownNames],
  })

/**
 * Skips quantities with a huge exponent. The pattern rejects them, but the rule is evaluated nevertheless, and the CEL
 * function `quantity` does not return for such an exponent.
 */
const isHuge = (amount: string): string => `string(${amount}).matches('[eE][+-]?[0-9]{4}')`

export const computeResources = (description: string) =>
  object(
    {
      requests: optional(
        amounts('Resources reserved for the container, by resource name.', [{ cpu: '1', memory: '2Gi' }]),
      ),
      limits: optional(
        amounts('Maximum resources of the container, by resource name. Set GPUs here.', [
          { cpu: '2', memory: '4Gi', 'nvidia.com/gpu': '1' },
        ]),
      ),
    },
    {
      description,
      rules: [
        cel(
          '!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || ' +
            `${isHuge('self.requests[name]')} || ${isHuge('self.limits[name]')} || ` +
            'quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)',
          'resources.requests must not exceed resources.limits: lower the request or raise the limit of the same resource',
          { fieldPath: '.requests' },
        ),
      ],
    },
  )

export type ComputeResources = Infer<ReturnType<typeof computeResources>>
