/** Where and when the pods of a TrainingJob are scheduled. */

import { affinity, labelKey, labelValue } from './affinity.ts'
import { DNS_SUBDOMAIN, type Infer, int64, list, mapOf, object, optional, strEnum, text } from './schema.ts'

const name = (description: string, example: string) =>
  text({ description, maxLength: 253, pattern: DNS_SUBDOMAIN, examples: [example] })

const toleration = object(
  {
    key: optional(labelKey('Key of the taint; every taint if absent.')),
    operator: strEnum(['Exists', 'Equal'], { description: 'Whether the value counts.', default: 'Equal' }),
    value: optional(labelValue('Value of the taint.')),
    effect: optional(
      strEnum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
        description: 'Effect of the taint; every effect if absent.',
      }),
    ),
    tolerationSeconds: optional(
      int64({ description: 'How long a taint with effect NoExecute is tolerated; for ever if absent.', minimum: 0 }),
    ),
  },
  { description: 'A taint that does not keep the pods away.' },
)

/** What every kind with pods has to say about nodes. */
export const placement = {
  priorityClassName: optional(name('PriorityClass of the pods.', 'training-high')),
  nodeSelector: optional(
    mapOf(labelValue('The value.'), {
      description: 'Labels that a node must have, beside those that the operator asks for where there are GPUs.',
      maxProperties: 32,
      examples: [{ pool: 'a100' }],
    }),
  ),
  tolerations: optional(
    list(toleration, {
      description: 'Taints that do not keep the pods away, beside the one on nodes with GPUs.',
      maxItems: 32,
      examples: [[{ key: 'spot', operator: 'Exists', effect: 'NoSchedule' }]],
    }),
  ),
  affinity: optional(affinity),
}

export const scheduling = object(
  {
    schedulerName: optional(name("Scheduler that places the pods; the cluster's own if absent.", 'volcano')),
    ...placement,
    topologyKey: optional(
      labelKey(
        'Label of nodes: all pods of the job run where it has one and the same value, such as one zone or rack.',
      ),
    ),
  },
  { description: 'Where the pods go.' },
)

export type Scheduling = Infer<typeof scheduling>
