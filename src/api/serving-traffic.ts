/** How traffic is split between the versions of a model. */

import { hostnameRules, MESH_GATEWAY } from './hostnames.ts'
import { match, mirror, stickiness } from './serving-rules.ts'
import { cel, NAMESPACED_NAME, type Infer, int32, list, object, optional, strEnum, text } from './schema.ts'

/** Traffic providers that a user can choose. */
export const trafficProviders = ['istio', 'gateway', 'router', 'replicas'] as const
/** All that can be in effect. `direct` is chosen by the operator: the Service alone, while one version gets everything. */
export const allTrafficProviders = ['direct', ...trafficProviders] as const

/** Choices with which requests are counted by version: by proxies, or by Prometheus where it has series of a mesh or gateway. */
export const countingProviders = ['auto', 'istio', 'gateway', 'router'] as const

/** Choices with which every pod gets traffic. */
export const podSplittingProviders = ['replicas'] as const

export type TrafficProviderName = (typeof allTrafficProviders)[number]

export const traffic = object(
  {
    provider: strEnum(['auto', ...trafficProviders], {
      description:
        'Traffic provider. `istio`: a VirtualService. `gateway`: an HTTPRoute; needs `gateways`. `router`: two Envoy pods ' +
        'with exact weights. `replicas`: the number of pods per version; approximate, without a proxy. `auto`: the first of istio, ' +
        'gateway and router that the cluster offers, and none while a single version gets all traffic.',
      default: 'auto',
    }),
    gateways: optional(
      list(
        text({
          description: 'Name of a Gateway in the namespace of the model, or namespace/name.',
          minLength: 1,
          maxLength: 317,
          pattern: NAMESPACED_NAME,
          examples: ['public', 'infrastructure/public'],
          rules: [
            cel(
              `self.matches(r'${NAMESPACED_NAME}')`,
              'spec.traffic.gateways must be the name of a Gateway or namespace/name, in lower case: write for example public or infrastructure/public',
            ),
            cel(
              `self != '${MESH_GATEWAY}'`,
              `spec.traffic.gateways must not be ${MESH_GATEWAY}, which means every sidecar: use the name of a Gateway`,
            ),
          ],
        }),
        {
          description:
            'Gateways that expose the model. Used by the providers istio and gateway. The administrator can restrict those of other namespaces.',
          minItems: 1,
          maxItems: 16,
        },
      ),
    ),
    hostnames: optional(
      list(
        text({
          description: 'A hostname.',
          minLength: 1,
          maxLength: 253,
          pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
          examples: ['sentiment.example.com'],
          rules: hostnameRules.map(({ pattern, message }) => cel(`!self.matches('${pattern}')`, message)),
        }),
        {
          description:
            'Public hostnames of the model at the gateways. The administrator can restrict them by namespace.',
          minItems: 1,
          maxItems: 16,
        },
      ),
    ),
    drainSeconds: optional(
      int32({
        description:
          'Seconds to keep a version or provider after its traffic has moved away, so that open requests can finish. Defaults to the setting of the operator.',
        minimum: 0,
        maximum: 86_400,
        examples: [120],
      }),
    ),
    mirror: optional(mirror),
    match: optional(match),
    stickiness: optional(stickiness),
  },
  {
    description: 'How traffic is split between versions.',
    default: {},
    rules: [
      cel(
        '!has(self.hostnames) || has(self.gateways)',
        'spec.traffic.hostnames need spec.traffic.gateways: set gateways, or remove hostnames',
      ),
      cel(
        "self.provider != 'replicas' || !(has(self.mirror) || has(self.match) || has(self.stickiness))",
        'spec.traffic.provider replicas has no proxy for mirror, match and stickiness: set provider to router, or remove them',
      ),
      cel(
        "!has(self.stickiness) || self.provider in ['auto', 'router']",
        'spec.traffic.stickiness needs the router: set spec.traffic.provider to auto or router, or remove stickiness',
      ),
      cel(
        "self.provider != 'gateway' || !has(self.match) || !self.match.exists(rule, has(rule.cookie))",
        'spec.traffic.match[].cookie needs the router or Istio: set spec.traffic.provider to auto, router or istio, or use a header',
      ),
    ],
  },
)

export type Traffic = Infer<typeof traffic>
