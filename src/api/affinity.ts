/** Affinity as in a PodSpec, without the fields that select other namespaces. */

import { type Infer, int32, list, mapOf, object, optional, strEnum, text } from './schema.ts'

export const LABEL_KEY = '^([a-z0-9A-Z]([-._a-z0-9A-Z]*[a-z0-9A-Z])?/)?[a-z0-9A-Z]([-._a-z0-9A-Z]*[a-z0-9A-Z])?$'
export const LABEL_VALUE = '^([a-z0-9A-Z]([-._a-z0-9A-Z]*[a-z0-9A-Z])?)?$'

export const labelKey = (description: string) =>
  text({ description, maxLength: 317, pattern: LABEL_KEY, examples: ['topology.kubernetes.io/zone'] })

export const labelValue = (description: string) =>
  text({ description, maxLength: 63, pattern: LABEL_VALUE, examples: ['a'] })

const expressions = <const O extends string>(operators: readonly O[]) =>
  list(
    object(
      {
        key: labelKey('Label key.'),
        operator: strEnum(operators, { description: 'Relation of the label to the values.' }),
        values: optional(
          list(labelValue('A label value.'), {
            description: 'Values to compare with.',
            maxItems: 64,
            examples: [['a', 'b']],
          }),
        ),
      },
      { description: 'A requirement on one label.' },
    ),
    {
      description: 'Label requirements. All must match.',
      maxItems: 32,
      examples: [[{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] }]],
    },
  )

const weight = int32({ description: 'Weight of the preference.', minimum: 1, maximum: 100 })

const nodeTerm = object(
  { matchExpressions: expressions(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']) },
  { description: 'A node selector term.' },
)

const nodeAffinity = object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(
      object(
        {
          nodeSelectorTerms: list(nodeTerm, {
            description: 'Node selector terms. At least one must match.',
            minItems: 1,
            maxItems: 16,
          }),
        },
        { description: 'Required node labels.' },
      ),
    ),
    preferredDuringSchedulingIgnoredDuringExecution: optional(
      list(object({ weight, preference: nodeTerm }, { description: 'A preferred node selector term.' }), {
        description: 'Preferred node labels.',
        maxItems: 16,
      }),
    ),
  },
  { description: 'Node affinity of the pods.' },
)

const podTerm = object(
  {
    labelSelector: object(
      {
        matchLabels: optional(
          mapOf(labelValue('Value of the label.'), {
            description: 'Labels of the other pods.',
            maxProperties: 32,
            examples: [{ app: 'cache' }],
          }),
        ),
        matchExpressions: optional(expressions(['In', 'NotIn', 'Exists', 'DoesNotExist'])),
      },
      { description: 'Selects pods in the same namespace.' },
    ),
    topologyKey: labelKey('Node label that defines the topology domain.'),
  },
  { description: 'A pod affinity term.' },
)

const podAffinity = (description: string) =>
  object(
    {
      requiredDuringSchedulingIgnoredDuringExecution: optional(
        list(podTerm, { description: 'Required terms.', maxItems: 16 }),
      ),
      preferredDuringSchedulingIgnoredDuringExecution: optional(
        list(object({ weight, podAffinityTerm: podTerm }, { description: 'A preferred pod affinity term.' }), {
          description: 'Preferred terms.',
          maxItems: 16,
        }),
      ),
    },
    { description },
  )

export const affinity = object(
  {
    nodeAffinity: optional(nodeAffinity),
    podAffinity: optional(podAffinity('Pods to be scheduled near to.')),
    podAntiAffinity: optional(podAffinity('Pods to be scheduled away from.')),
  },
  {
    description: 'Affinity of the pods, as in a PodSpec.',
    examples: [
      {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['a100', 'h100'] }] }],
          },
        },
      },
    ],
  },
)

export type Affinity = Infer<typeof affinity>
