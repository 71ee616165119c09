/** Affinity as pods have it, without the parts that reach into other places of the cluster. */

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
        key: labelKey('Key of the label.'),
        operator: strEnum(operators, { description: 'How the label relates to the values.' }),
        values: optional(
          list(labelValue('A value.'), {
            description: 'Values to compare with.',
            maxItems: 64,
            examples: [['a', 'b']],
          }),
        ),
      },
      { description: 'A requirement on one label.' },
    ),
    {
      description: 'Requirements that all have to hold.',
      maxItems: 32,
      examples: [[{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] }]],
    },
  )

const weight = int32({ description: 'How much it counts.', minimum: 1, maximum: 100 })

const nodeTerm = object(
  { matchExpressions: expressions(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']) },
  { description: 'A kind of node.' },
)

const nodeAffinity = object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: optional(
      object(
        {
          nodeSelectorTerms: list(nodeTerm, {
            description: 'Kinds of nodes; one of them has to fit.',
            minItems: 1,
            maxItems: 16,
          }),
        },
        { description: 'Nodes that the pods may run on.' },
      ),
    ),
    preferredDuringSchedulingIgnoredDuringExecution: optional(
      list(object({ weight, preference: nodeTerm }, { description: 'A wish.' }), {
        description: 'Nodes that the pods should rather run on.',
        maxItems: 16,
      }),
    ),
  },
  { description: 'Nodes, by their labels.' },
)

const podTerm = object(
  {
    labelSelector: object(
      {
        matchLabels: optional(
          mapOf(labelValue('The value.'), {
            description: 'Labels that the other pods have.',
            maxProperties: 32,
            examples: [{ app: 'cache' }],
          }),
        ),
        matchExpressions: optional(expressions(['In', 'NotIn', 'Exists', 'DoesNotExist'])),
      },
      { description: 'Which other pods; they are looked for beside the job.' },
    ),
    topologyKey: labelKey('Label of nodes that says what counts as near.'),
  },
  { description: 'Other pods, and what counts as near them.' },
)

const podAffinity = (description: string) =>
  object(
    {
      requiredDuringSchedulingIgnoredDuringExecution: optional(
        list(podTerm, { description: 'Has to hold.', maxItems: 16 }),
      ),
      preferredDuringSchedulingIgnoredDuringExecution: optional(
        list(object({ weight, podAffinityTerm: podTerm }, { description: 'A wish.' }), {
          description: 'Should hold.',
          maxItems: 16,
        }),
      ),
    },
    { description },
  )

export const affinity = object(
  {
    nodeAffinity: optional(nodeAffinity),
    podAffinity: optional(podAffinity('Pods to be near to.')),
    podAntiAffinity: optional(podAffinity('Pods to keep away from.')),
  },
  { description: 'Where the pods go, as in the spec of a pod.' },
)

export type Affinity = Infer<typeof affinity>
