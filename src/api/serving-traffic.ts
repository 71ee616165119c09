/** Who divides the traffic of a model between its versions. */

import { DNS_SUBDOMAIN, type Infer, int32, list, object, optional, strEnum, text } from './schema.ts'

/** `direct` is no choice of the user's: the model's Service alone, as long as one version gets everything. */
export const trafficProviders = ['istio', 'gateway', 'router', 'replicas'] as const

export const traffic = object(
  {
    provider: strEnum(['auto', ...trafficProviders], {
      description:
        'What divides the traffic. `istio`: a VirtualService; `gateway`: an HTTPRoute, needs gateways; `router`: two HAProxy pods ' +
        'with exact weights; `replicas`: the number of pods, coarse but without a proxy. `auto`: the first of istio, gateway and router ' +
        'that the cluster has, and none while a single version gets everything.',
      default: 'auto',
    }),
    gateways: optional(
      list(
        text({
          description: 'Name of a Gateway in the namespace of the model.',
          minLength: 1,
          maxLength: 253,
          pattern: DNS_SUBDOMAIN,
          examples: ['public'],
        }),
        { description: 'Gateways that bring in the traffic, for istio and gateway.', minItems: 1, maxItems: 16 },
      ),
    ),
    hostnames: optional(
      list(
        text({
          description: 'A host name.',
          minLength: 1,
          maxLength: 253,
          pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
          examples: ['sentiment.example.com'],
        }),
        { description: 'Host names that the model answers to at these gateways.', minItems: 1, maxItems: 16 },
      ),
    ),
    drainSeconds: optional(
      int32({
        description:
          'How long a version or a router is kept after its last traffic, so that requests under way end well. Absent: what the operator is configured with.',
        minimum: 0,
        maximum: 86_400,
        examples: [120],
      }),
    ),
  },
  { description: 'Who divides the traffic between the versions.', default: {} },
)

export type Traffic = Infer<typeof traffic>
