/** Scheduling fields of every kind that has pods. */

import { affinity, labelKey, labelValue } from './affinity.ts'
import { cel, int64, list, mapOf, object, objectName, optional, strEnum } from './schema.ts'

const toleration = object(
  {
    key: optional(labelKey('Taint key. If omitted, all keys match.')),
    operator: strEnum(['Exists', 'Equal'], {
      description: '`Exists` ignores the value; `Equal` compares it.',
      default: 'Equal',
    }),
    value: optional(labelValue('Taint value.')),
    effect: optional(
      strEnum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
        description: 'Taint effect. If omitted, all effects match.',
      }),
    ),
    tolerationSeconds: optional(
      int64({
        description: 'Seconds to tolerate a taint with effect NoExecute. If omitted, it is tolerated forever.',
        minimum: 0,
      }),
    ),
  },
  {
    description: 'A toleration.',
    rules: [
      cel(
        `self.operator == 'Equal' || !has(self.value) || self.value == ''`,
        'tolerations[].value has no meaning with operator Exists: remove value, or set operator to Equal',
      ),
      cel(
        `self.operator == 'Exists' || has(self.key)`,
        'tolerations[].key is required with operator Equal: set key, or set operator to Exists',
      ),
      cel(
        `!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')`,
        'tolerations[].tolerationSeconds applies to the effect NoExecute only: set effect to NoExecute, or remove tolerationSeconds',
      ),
    ],
  },
)

export const placement = {
  priorityClassName: optional(objectName('PriorityClass of the pods.', 'training-high')),
  nodeSelector: optional(
    mapOf(labelValue('Value of the label.'), {
      description: 'Labels that nodes must have, in addition to those that the operator requires for GPUs.',
      maxProperties: 32,
      examples: [{ pool: 'a100' }],
    }),
  ),
  tolerations: optional(
    list(toleration, {
      description: 'Tolerations for the pods, in addition to the one for GPU nodes.',
      maxItems: 32,
      examples: [[{ key: 'spot', operator: 'Exists', effect: 'NoSchedule' }]],
    }),
  ),
  affinity: optional(affinity),
}
