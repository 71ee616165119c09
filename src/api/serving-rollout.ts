/** How traffic moves to the weights of the spec: in steps, judged by what the versions answer. */

import { cel, flag, type Infer, int32, int64, list, listMap, object, optional, strEnum, text } from './schema.ts'
import { analysisMetric } from './serving-analysis-metric.ts'
import { blueGreen, strategy, strategyRules } from './rollout-strategy.ts'
import { countingProviders, podSplittingProviders } from './serving-traffic.ts'
import { versionName } from './serving-version.ts'

/** On a ModelDeployment: a decision of a person about one revision, so that applying it twice changes nothing. */
export const PROMOTE_ANNOTATION = 'modeldeployment.ml.example.com/promote'
export const ABORT_ANNOTATION = 'modeldeployment.ml.example.com/abort'
export const RETRY_ANNOTATION = 'modeldeployment.ml.example.com/retry'

const PERCENT = '^[0-9]{1,5}([.][0-9]{1,4})?%$'
const MAX_STEPS = 20
const DAY = 86_400

const percent = (field: string, description: string, example: string) =>
  text({
    description,
    maxLength: 11,
    pattern: PERCENT,
    examples: [example],
    rules: [
      cel(
        `self.matches('${PERCENT}')`,
        `spec.rollout.analysis.${field} must be a percentage: write for example ${example}`,
      ),
    ],
  })

const step = object(
  {
    weight: int32({
      description:
        'Share of the way from the weights before the change to those of the spec, in percent. ' +
        'For a version that replaces another, this is its share of the traffic.',
      minimum: 1,
      maximum: 100,
      examples: [10],
    }),
    pauseSeconds: optional(
      int32({ description: 'The least time to stay at this step.', minimum: 0, maximum: DAY, examples: [60] }),
    ),
    pause: optional(flag({ description: 'Whether to stay at this step until it is promoted by hand.' })),
  },
  {
    description: 'A step of the rollout.',
    rules: [
      cel(
        '!(has(self.pause) && self.pause && has(self.pauseSeconds))',
        'spec.rollout.steps[] has pause and pauseSeconds: keep pause to wait for a person, or pauseSeconds to wait for a time',
      ),
    ],
  },
)

const analysis = object(
  {
    maxErrorRate: optional(
      percent(
        'maxErrorRate',
        'The largest share of failed requests of a new version, in percent of its requests.',
        '1%',
      ),
    ),
    maxErrorRateRatio: optional(
      percent(
        'maxErrorRateRatio',
        'The largest error rate of a new version, in percent of the error rate of the stable versions.',
        '150%',
      ),
    ),
    maxLatencyMs: optional(
      int32({
        description: 'The largest average latency of a new version, in milliseconds.',
        minimum: 1,
        examples: [250],
      }),
    ),
    maxLatencyP99Ms: optional(
      int32({
        description:
          'The largest latency of a new version that 99 % of its requests do not exceed, in milliseconds. Needs a source with histograms, such as Prometheus.',
        minimum: 1,
        examples: [800],
      }),
    ),
    maxLatencyRatio: optional(
      percent(
        'maxLatencyRatio',
        'The largest average latency of a new version, in percent of that of the stable versions.',
        '150%',
      ),
    ),
    metrics: optional(
      listMap(analysisMetric, ['name'], {
        description:
          'Limits on what Prometheus knows of the versions, which need a Prometheus in the configuration of the operator, and Jobs that judge them.',
        minItems: 1,
        maxItems: 8,
      }),
    ),
    minRequests: int32({
      description: 'The fewest requests of each new version for a judgement. With fewer, the rollout waits for more.',
      minimum: 1,
      maximum: 1_000_000,
      default: 50,
    }),
    intervalSeconds: int32({
      description: 'Seconds over which requests are counted for one judgement.',
      minimum: 1,
      maximum: DAY,
      default: 60,
    }),
    failureLimit: int32({
      description: 'Number of failed judgements of one step that end the rollout.',
      minimum: 1,
      maximum: 100,
      default: 1,
    }),
    noTraffic: strEnum(['Wait', 'Pass', 'Fail'], {
      description:
        'What an interval without any request of a new version means. `Wait`: wait for requests. `Pass`: go on. `Fail`: a failed judgement.',
      default: 'Wait',
    }),
    watchSeconds: int32({
      description: 'Seconds after the last step in which the new versions are still judged and the old ones are kept.',
      minimum: 0,
      maximum: DAY,
      default: 300,
    }),
  },
  {
    description: 'How the new versions are judged, by the requests that the traffic provider counts.',
    rules: [
      cel(
        'has(self.maxErrorRate) || has(self.maxErrorRateRatio) || has(self.maxLatencyMs) || has(self.maxLatencyP99Ms) || has(self.maxLatencyRatio) || has(self.metrics)',
        'spec.rollout.analysis has no limit: set maxErrorRate, maxErrorRateRatio, maxLatencyMs, maxLatencyP99Ms, maxLatencyRatio or metrics',
      ),
    ],
    examples: [{ maxErrorRate: '1%' }],
  },
)

/** Written out pair by pair: the API server estimates nested loops as too expensive. */
const FORWARD = Array.from(
  { length: MAX_STEPS - 1 },
  (_, index) => `(size(self) <= ${index + 1} || self[${index}].weight < self[${index + 1}].weight)`,
).join(' && ')

export const rollout = object(
  {
    strategy,
    blueGreen: optional(blueGreen),
    steps: optional(
      list(step, {
        description:
          'Steps of the strategy canary before the weights of the spec apply. Without steps, they apply when their versions are ready.',
        minItems: 1,
        maxItems: MAX_STEPS,
        rules: [
          cel(
            FORWARD,
            'spec.rollout.steps[].weight must increase from step to step: sort the steps, and remove equal ones',
          ),
        ],
      }),
    ),
    analysis: optional(analysis),
    autoRollback: flag({
      description:
        'Whether a rollout that fails goes back to the last good weights by itself. Otherwise it stops and waits for a person.',
      default: true,
    }),
    progressDeadlineSeconds: int32({
      description:
        'Seconds in which the versions of a step must be ready and its weights in effect. Then the rollout fails.',
      minimum: 1,
      maximum: DAY,
      default: 600,
    }),
  },
  {
    description:
      'How traffic moves to changed weights. Without it, the weights of the spec apply as soon as their versions are ready.',
    rules: strategyRules,
    examples: [{ steps: [{ weight: 10 }], analysis: { maxErrorRate: '1%' } }],
  },
)

export const paused = flag({
  description: 'Whether the rollout stays at its present step. Needs spec.rollout.',
})

export const historyLimit = int32({
  description: 'Number of revisions in status.history, by default 10. Needs spec.rollout.',
  minimum: 2,
  maximum: 20,
  examples: [10],
})

export const rollbackTo = object(
  {
    revision: optional(int64({ description: 'Number of the revision in status.history.', minimum: 1, examples: [3] })),
    version: optional(
      versionName(
        'rollbackTo.version',
        'Name of a version. The latest completed revision in which it had all traffic is restored.',
      ),
    ),
  },
  {
    description:
      'Serves an earlier revision from status.history instead of the rest of the spec, at once. Remove it to return to the spec. Needs spec.rollout.',
    rules: [
      cel(
        'has(self.revision) != has(self.version)',
        'spec.rollbackTo needs a revision or a version, and not both: set one of them',
      ),
    ],
    examples: [{ revision: 3 }],
  },
)

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

export const rolloutRules = [
  cel(
    '!has(self.paused) || !self.paused || has(self.rollout)',
    'spec.paused needs spec.rollout: set rollout, or remove paused',
    {
      fieldPath: '.paused',
    },
  ),
  cel(
    '!has(self.rollbackTo) || has(self.rollout)',
    'spec.rollbackTo needs spec.rollout: set rollout, or remove rollbackTo',
    {
      fieldPath: '.rollbackTo',
    },
  ),
  cel(
    `!has(self.rollout) || !has(self.rollout.analysis) || self.traffic.provider in [${quoted(countingProviders)}]`,
    `spec.rollout.analysis needs requests that are counted by version: set spec.traffic.provider to ${countingProviders.join(' or ')}, or remove analysis`,
    { fieldPath: '.rollout' },
  ),
  cel(
    `!has(self.rollout) || self.rollout.strategy != 'recreate' || !has(self.rollout.analysis) || self.traffic.provider != 'auto'`,
    `spec.rollout.analysis with the strategy recreate needs a provider that counts requests of a single version: set spec.traffic.provider to ${countingProviders.filter((name) => name !== 'auto').join(' or ')}`,
    { fieldPath: '.rollout' },
  ),
  cel(
    `!has(self.rollout) || self.rollout.strategy != 'blueGreen' || !(self.traffic.provider in [${quoted(podSplittingProviders)}])`,
    `spec.rollout.strategy blueGreen needs pods without traffic, which spec.traffic.provider ${podSplittingProviders.join(' or ')} cannot have: set another provider or another strategy`,
    { fieldPath: '.rollout' },
  ),
]

export type Rollout = Infer<typeof rollout>
export type RolloutStep = NonNullable<Rollout['steps']>[number]
export type Analysis = Infer<typeof analysis>
export type RollbackTo = Infer<typeof rollbackTo>
