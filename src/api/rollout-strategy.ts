/** The strategies of a rollout, and the settings of those that have some. */

import { cel, flag, int32, object, optional, strEnum } from './schema.ts'

const DAY = 86_400

/** How long old versions are kept after a switch, if the spec does not say. */
export const DEFAULT_KEEP_SECONDS = 300

export const strategies = ['canary', 'blueGreen', 'recreate'] as const

export const strategy = strEnum(strategies, {
  description:
    '`canary`: traffic moves to the new weights in steps. `blueGreen`: new versions start beside the old ones, and all traffic ' +
    'switches at once when all their pods are ready. `recreate`: old versions are removed before new ones start, for clusters ' +
    'without spare GPUs; the model does not answer in between.',
  default: 'canary',
})

export const blueGreen = object(
  {
    pause: optional(flag({ description: 'Whether to wait before the switch until it is promoted by hand.' })),
    previewSeconds: optional(
      int32({
        description: 'The least time that the new versions are ready before the switch.',
        minimum: 0,
        maximum: DAY,
        examples: [60],
      }),
    ),
    keepSeconds: int32({
      description:
        'Seconds after the switch in which the old versions keep their pods, so that going back is immediate.',
      minimum: 0,
      maximum: DAY,
      default: DEFAULT_KEEP_SECONDS,
    }),
  },
  {
    description:
      'Settings of the strategy blueGreen. Until the switch, the Service {name}-preview leads to the new version.',
    rules: [
      cel(
        '!(has(self.pause) && self.pause && has(self.previewSeconds))',
        'spec.rollout.blueGreen has pause and previewSeconds: keep pause to wait for a person, or previewSeconds to wait for a time',
      ),
    ],
    examples: [{ pause: true, keepSeconds: 600 }],
  },
)

/** Of `spec.rollout`. */
export const strategyRules = [
  cel(
    "self.strategy == 'canary' || !has(self.steps)",
    'spec.rollout.steps needs the strategy canary: remove steps, or set spec.rollout.strategy to canary',
    { fieldPath: '.steps' },
  ),
  cel(
    "self.strategy == 'blueGreen' || !has(self.blueGreen)",
    'spec.rollout.blueGreen needs the strategy blueGreen: remove blueGreen, or set spec.rollout.strategy to blueGreen',
    { fieldPath: '.blueGreen' },
  ),
]
