/** The state of a rollout and the earlier revisions of a model, in the status. */

import { dateTime, type Infer, int32, int64, list, listMap, number, object, optional, strEnum, text } from './schema.ts'
import { strategies } from './rollout-strategy.ts'
import { MAX_VERSIONS, versionName } from './serving-version.ts'

const MAX_SHARES = 4 * MAX_VERSIONS

const shares = (description: string) =>
  listMap(
    object(
      {
        name: versionName('weights[].name', 'Name of the version.'),
        weight: int32({ description: 'Share of the traffic in percent.', minimum: 0, maximum: 100 }),
      },
      { description: 'Share of a version.' },
    ),
    ['name'],
    { description, maxItems: MAX_SHARES },
  )

const counter = object(
  {
    source: text({
      description: 'What counted: the uid of a proxy pod.',
      maxLength: 64,
      examples: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'],
    }),
    startedAt: int64({ description: 'When it began to count, in milliseconds since the epoch.', minimum: 0 }),
    version: versionName('counters[].version', 'Name of the version.'),
    requests: int64({ description: 'Number of requests.', minimum: 0 }),
    errors: int64({ description: 'Number of failed requests.', minimum: 0 }),
    latencyMs: int64({ description: 'Sum of the latencies in milliseconds.', minimum: 0 }),
  },
  { description: 'Counters at the start of the interval.' },
)

const analysisStatus = object(
  {
    since: dateTime({ description: 'Start of the interval.' }),
    source: optional(
      strEnum(['Reports', 'Prometheus'], {
        description: 'Where the figures of the interval come from. Absent: no interval is open.',
      }),
    ),
    counters: list(counter, { description: 'Counters at the start of the interval.', maxItems: 256 }),
    failures: optional(int32({ description: 'Number of failed judgements of this step.', minimum: 0 })),
    result: optional(
      strEnum(['Pass', 'Fail', 'Inconclusive'], { description: 'Result of the last interval of this step.' }),
    ),
    version: optional(versionName('analysis.version', 'Version that the figures are of.')),
    metric: optional(text({ description: 'Metric that decided.', maxLength: 32, examples: ['errorRate'] })),
    value: optional(number({ description: 'Its value: percent, milliseconds, or what the query gives.' })),
    threshold: optional(number({ description: 'Its limit, in the same unit.' })),
    stableErrorRate: optional(
      number({ description: 'Last known error rate of the stable versions, in percent.', minimum: 0 }),
    ),
    stableLatencyMs: optional(
      number({ description: 'Last known average latency of the stable versions, in milliseconds.', minimum: 0 }),
    ),
  },
  { description: 'Judgement of the present step.' },
)

const jobResult = object(
  {
    metric: text({ description: 'Name of the metric.', maxLength: 32, examples: ['accuracy'] }),
    version: versionName('jobs[].version', 'Version that was judged.'),
    result: strEnum(['Pass', 'Fail'], { description: 'Result of the Job.' }),
    message: optional(
      text({ description: 'Last output of the Job.', maxLength: 512, examples: ['accuracy 0.97 on 1000 samples'] }),
    ),
  },
  { description: 'Result of a Job of the analysis.' },
)

export const rolloutStatus = object(
  {
    phase: strEnum(['Progressing', 'Paused', 'Watching', 'Completed', 'RolledBack', 'Aborted', 'Halted'], {
      description:
        'Progressing: on the way. Paused: waits for a person. Watching: at the weights of the spec, and still judged. ' +
        'Completed. RolledBack, Aborted: back at the last good weights. Halted: failed, and the last good versions are not ready.',
    }),
    revision: int64({ description: 'Revision that the rollout leads to.', minimum: 1 }),
    stableRevision: int64({ description: 'Last good revision.', minimum: 1 }),
    strategy: optional(strEnum(strategies, { description: 'Strategy of the present step.' })),
    step: optional(
      int32({ description: 'Present step, starting at 1. The last one is the weights of the spec.', minimum: 1 }),
    ),
    steps: optional(int32({ description: 'Number of steps, with the last one.', minimum: 1 })),
    stepWeight: optional(
      int32({ description: 'Share of the way in percent; 0 before a switch.', minimum: 0, maximum: 100 }),
    ),
    stable: optional(text({ description: 'Versions that lose traffic.', maxLength: 1024, examples: ['v1'] })),
    candidate: optional(text({ description: 'Versions that gain traffic.', maxLength: 1024, examples: ['v2'] })),
    weights: shares('Weights of the present step. The operator records them before it applies them.'),
    from: optional(shares('Weights at the start of the rollout.')),
    stepStartedAt: optional(dateTime({ description: 'Time when the step was recorded.' })),
    inEffectSince: optional(
      dateTime({ description: 'Time since when the weights of the step are observed to be in effect.' }),
    ),
    analysis: optional(analysisStatus),
    jobs: optional(
      listMap(jobResult, ['metric', 'version'], {
        description: 'Results of the Jobs of the present step.',
        maxItems: 8 * MAX_VERSIONS,
      }),
    ),
    reason: optional(text({ description: 'Reason in CamelCase.', maxLength: 64, examples: ['AnalysisFailed'] })),
    message: optional(
      text({
        description: 'Human-readable explanation, with the next step.',
        maxLength: 1024,
        examples: ['Step 1 of 3'],
      }),
    ),
  },
  { description: 'Rollout of the model. Present with spec.rollout.' },
)

const revision = object(
  {
    revision: int64({ description: 'Number of the revision.', minimum: 1 }),
    hash: text({
      description: 'Digest of the versions, with their pod templates and weights.',
      maxLength: 64,
      examples: ['5f2c91aa'],
    }),
    time: dateTime({ description: 'Time when the revision was recorded.' }),
    reason: strEnum(['Created', 'SpecChanged', 'RollbackTo', 'Retried'], {
      description: 'Why there is this revision.',
    }),
    result: strEnum(['Progressing', 'Completed', 'RolledBack', 'Aborted', 'Superseded'], {
      description: 'How its rollout ended. Superseded: by a later change, before it was completed.',
    }),
    message: optional(
      text({ description: 'Why it went back.', maxLength: 512, examples: ['errorRate of v2 is 20 %, above 1 %'] }),
    ),
    weights: shares('Weights of the revision.'),
    template: optional(
      text({
        description: 'The versions and their settings as JSON, to restore them. Absent if it is too long.',
        maxLength: 32_768,
        examples: ['{"parts":{},"versions":[]}'],
      }),
    ),
  },
  { description: 'A revision of the model.' },
)

export const revisionHistory = listMap(revision, ['revision'], {
  description: 'Latest revisions, the newest last. Present with spec.rollout.',
  maxItems: 22,
})

export type RolloutStatus = Infer<typeof rolloutStatus>
export type RolloutPhase = RolloutStatus['phase']
export type AnalysisStatus = Infer<typeof analysisStatus>
export type JobResult = Infer<typeof jobResult>
export type AnalysisCounter = Infer<typeof counter>
export type Revision = Infer<typeof revision>
export type Shares = Revision['weights']
