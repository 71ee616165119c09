/**
 * Jobs as metrics: one for each new version in each step, while its weights are in effect. A Job is created only for a step that
 * is recorded to be in effect, under a name of that step, and its result is recorded before anything follows from it. So it
 * runs once, wherever the operator crashes. Jobs stay as long as the step is on record, with their logs.
 */
import { isJobMetric } from '../../../api/serving-analysis-metric.ts'
import type { JobResult } from '../../../api/rollout-status.ts'
import type { Job } from '../../../kube/resources.ts'
import { fingerprint } from '../../fingerprint.ts'
import { analysisName } from '../../model-names.ts'
import { ANALYSIS_CONTAINER, analysisJob, type Judged } from '../objects/analysis-job.ts'
import { obstacleOf, jobPods, verdictOf, whyFailed } from '../observe/job-outcome.ts'
import type { ModelView } from '../observe/view.ts'
import { lastWords } from '../report/trouble.ts'
import type { Travel } from './course.ts'
import { toWeights } from './revision.ts'
import type { Stage } from './stage.ts'
import { isTravelling } from './strategy.ts'
import { gaining } from './way.ts'

const FAILED = 'AnalysisFailed'

/** All runs of the present step. */
function runsOf({ model }: Pick<ModelView, 'model'>, { state, spec, isReturn, stable, destination }: Travel): Judged[] {
  const { revision, step } = state
  if (isReturn || step === undefined) return []
  const metrics = spec.rollout.analysis?.metrics?.filter(isJobMetric) ?? []
  const weights = toWeights(state.weights)
  return metrics.flatMap((metric) =>
    gaining(stable, destination).map((version) => {
      const digest = fingerprint(`${model.metadata.name}/${version}/${metric.name}`)
      const jobName = analysisName(model, version, { revision, step, digest })
      return { metric, version, jobName, revision, step, weight: weights.get(version) ?? 0 }
    }),
  )
}

const isOf =
  ({ metric, version }: Judged) =>
  (result: JobResult): boolean =>
    result.metric === metric.name && result.version === version

/** Names of the Jobs that stay. */
export const keptJobs = (view: ModelView): string[] =>
  view.travel ? runsOf(view, view.travel).map(({ jobName }) => jobName) : []

/** Jobs to create now. */
export function jobsToStart(view: ModelView): Job[] {
  const { travel, observed } = view
  if (!travel || travel.isNew || travel.spec.isPaused) return []
  const { state } = travel
  if (!isTravelling(state) || state.inEffectSince === undefined || state.reason === FAILED) return []
  return runsOf(view, travel)
    .filter((run) => !state.jobs?.some(isOf(run)))
    .filter(({ jobName }) => !observed.jobs.some(({ metadata }) => metadata.name === jobName))
    .map((run) => analysisJob(view, run))
}

export interface JudgedJobs {
  /** To be recorded. */
  readonly jobs: JobResult[]
  readonly failure?: string
  /** What the step waits for. */
  readonly waitsFor?: string
}

export function judgeJobs({ view, travel, state }: Stage): JudgedJobs {
  const found = runsOf(view, travel).map((run) => state.jobs?.find(isOf(run)) ?? judgedRun(view, run))
  const jobs = found.filter((one) => typeof one !== 'string')
  const failed = jobs.find(({ result }) => result === 'Fail')
  const waitsFor = found.find((one) => typeof one === 'string')
  return {
    jobs,
    ...(failed && { failure: accountOf(failed) }),
    ...(waitsFor !== undefined && { waitsFor }),
  }
}

const accountOf = ({ metric, version, message = '' }: JobResult): string =>
  `the Job of ${metric} failed for ${version}: ${message}`

const MAX_MESSAGE = 512

/** Its result, or what it waits for. */
function judgedRun(view: ModelView, { metric, version, jobName }: Judged): JobResult | string {
  const job = view.observed.jobs.find(({ metadata }) => metadata.name === jobName)
  const verdict = job && verdictOf(job)
  if (!job || !verdict) {
    const obstacle = job && obstacleOf(view, job, ANALYSIS_CONTAINER, undefined)
    const why = obstacle ? ` (${obstacle.message.slice(0, MAX_MESSAGE)})` : ''
    return `waiting for Job ${jobName} of ${metric.name}${why}`
  }
  const words =
    verdict === 'failed'
      ? whyFailed(view, job, ANALYSIS_CONTAINER)
      : jobPods(view, job)
          .map((pod) => lastWords(pod, ANALYSIS_CONTAINER))
          .find((text) => text !== '')
  const result = verdict === 'failed' ? 'Fail' : 'Pass'
  return { metric: metric.name, version, result, ...(words && { message: words.slice(0, MAX_MESSAGE) }) }
}
