/** What a user wants to know of a version: a query of Prometheus with a limit, or a Job. */
import { cel, type Infer, object, optional, text } from './schema.ts'
import { type AnalysisJob, analysisJob } from './serving-analysis-job.ts'

const NUMBER = '^-?[0-9]{1,12}([.][0-9]{1,6})?$'
const PERCENT = '^[0-9]{1,5}([.][0-9]{1,4})?%$'
const NAME = '^[a-zA-Z][-a-zA-Z0-9]*$'
/** Names of the figures that every analysis has. */
const TAKEN = ['requests', 'errorRate', 'latencyMs', 'latencyP99Ms']

const field = (name: string): string => `spec.rollout.analysis.metrics[].${name}`

const number = (name: string, description: string) =>
  text({
    description,
    maxLength: 20,
    pattern: NUMBER,
    examples: ['0.95'],
    rules: [cel(`self.matches('${NUMBER}')`, `${field(name)} must be a number as text: write for example "0.95"`)],
  })

export const analysisMetric = object(
  {
    name: text({
      description: 'Name of the metric, for status and events.',
      minLength: 1,
      maxLength: 30,
      pattern: NAME,
      examples: ['accuracy'],
      rules: [
        cel(
          `self.matches('${NAME}')`,
          `${field('name')} must begin with a letter, followed by letters, digits and -: write for example accuracy`,
        ),
        cel(
          `!(self in [${TAKEN.map((name) => `'${name}'`).join(', ')}])`,
          `${field('name')} must not be ${TAKEN.join(', ')}, which every analysis has: use another name`,
        ),
      ],
    }),
    query: optional(
      text({
        description:
          'PromQL query that gives one number for one version. `{namespace}`, `{model}`, `{version}`, `{workload}` (its Deployment) and ' +
          '`{range}` (the time since the interval began, such as `60s`) are replaced. Only series of the namespace of the model are read.',
        minLength: 1,
        maxLength: 1024,
        examples: ['avg(model_accuracy{model="{model}",version="{version}"})'],
      }),
    ),
    job: optional(analysisJob),
    max: optional(number('max', 'The largest value of a new version.')),
    min: optional(number('min', 'The smallest value of a new version.')),
    maxRatio: optional(
      text({
        description: 'The largest value of a new version, in percent of that of the stable versions.',
        maxLength: 11,
        pattern: PERCENT,
        examples: ['120%'],
        rules: [cel(`self.matches('${PERCENT}')`, `${field('maxRatio')} must be a percentage: write for example 120%`)],
      }),
    ),
  },
  {
    description: 'A limit on what Prometheus knows of a version, or a Job that judges it.',
    rules: [
      cel(
        'has(self.query) != has(self.job)',
        'spec.rollout.analysis.metrics[] needs a query or a job, and not both: set one of them',
      ),
      cel(
        '!has(self.job) || !(has(self.max) || has(self.min) || has(self.maxRatio))',
        'spec.rollout.analysis.metrics[].job is judged by its exit code: remove max, min and maxRatio',
      ),
      cel(
        'has(self.job) || has(self.max) || has(self.min) || has(self.maxRatio)',
        'spec.rollout.analysis.metrics[] has no limit: set max, min or maxRatio',
      ),
    ],
  },
)

export type AnalysisMetric = Infer<typeof analysisMetric>

export interface QueryMetric extends AnalysisMetric {
  readonly query: string
}

export interface JobMetric extends AnalysisMetric {
  readonly job: AnalysisJob
}

export const isQueryMetric = (metric: AnalysisMetric): metric is QueryMetric => metric.query !== undefined
export const isJobMetric = (metric: AnalysisMetric): metric is JobMetric => metric.job !== undefined
