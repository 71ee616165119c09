/** The run of a job in MLflow: what it should have, derived from what is recorded. */
import { compact } from '../../../api/json.ts'
import type { ModelRegistration, RunStatus, TrackedRun } from '../../../api/training-tracking.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { millis } from '../../time.ts'
import { modelPathOf } from './deployed-model.ts'

/** On the job, or as an environment variable of its workers. */
const COMMIT_ANNOTATION = 'ml.example.com/git-commit'
const COMMIT_VARIABLE = 'GIT_COMMIT'
const PREFIX = 'ml-operator.'

export const isTracked = ({ spec }: TrainingJob): boolean =>
  spec.tracking?.mlflow !== undefined || spec.output?.registerAs !== undefined

/** The run of the job; undefined if it has none, or if MLflow has everything. */
export function trackedRun(job: TrainingJob): TrackedRun | undefined {
  if (!isTracked(job) || isSettled(job)) return undefined
  const { name, namespace = '', uid = '' } = job.metadata
  const { experiment = 'default', runName = name } = job.spec.tracking?.mlflow ?? {}
  const register = registrationOf(job)
  return {
    namespace,
    name,
    uid,
    experiment,
    runName,
    ...recordedId(job),
    params: paramsOf(job),
    tags: tagsOf(job),
    status: runStatusOf(job),
    ...timesOf(job),
    ...(register && { register }),
  }
}

function recordedId({ status }: TrainingJob): Pick<TrackedRun, 'runId'> {
  const { runId } = status?.tracking ?? {}
  return runId === undefined ? {} : { runId }
}

function timesOf({ metadata, status }: TrainingJob): Pick<TrackedRun, 'startTime' | 'endTime'> {
  const startTime = millis(status?.startTime ?? metadata.creationTimestamp) ?? 0
  const endTime = millis(status?.completionTime ?? metadata.deletionTimestamp)
  return { startTime, ...(endTime !== undefined && { endTime }) }
}

/** MLflow has the end of the job, and the version of its model. */
function isSettled(job: TrainingJob): boolean {
  const { tracking, output } = job.status ?? {}
  const status = runStatusOf(job)
  return (
    status !== 'RUNNING' && tracking?.runStatus === status && (!registrationOf(job) || output?.registered !== undefined)
  )
}

function runStatusOf({ metadata, status }: TrainingJob): RunStatus {
  if (status?.state === 'Completed') return 'FINISHED'
  if (status?.state === 'Failed') return 'FAILED'
  return metadata.deletionTimestamp === undefined ? 'RUNNING' : 'KILLED'
}

function paramsOf({ spec }: TrainingJob): Record<string, string> {
  const { model, dataset, framework, numWorkers, hyperparameters = {} } = spec
  const own = compact({ model, dataset, framework, numWorkers: String(numWorkers) })
  const given = Object.entries(hyperparameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return { ...own, ...(Object.fromEntries(given) as Record<string, string>) }
}

function tagsOf(job: TrainingJob): Record<string, string> {
  const { name, namespace, uid } = job.metadata
  const { attempts, tracking, output } = job.status ?? {}
  const known = compact({
    namespace,
    job: name,
    uid,
    attempt: attempts === undefined ? undefined : String(attempts),
    image: job.spec.image,
    'image-digest': tracking?.image,
    'model-uri': output?.modelPath,
  })
  const own = Object.entries(known).map(([key, value]) => [`${PREFIX}${key}`, value])
  const commit = commitOf(job)
  return {
    ...job.spec.tracking?.mlflow?.tags,
    ...(commit !== undefined && { 'mlflow.source.git.commit': commit }),
    ...(Object.fromEntries(own) as Record<string, string>),
  }
}

function commitOf({ metadata, spec }: TrainingJob): string | undefined {
  return metadata.annotations?.[COMMIT_ANNOTATION] ?? spec.env?.find(({ name }) => name === COMMIT_VARIABLE)?.value
}

function registrationOf(job: TrainingJob): ModelRegistration | undefined {
  const name = job.spec.output?.registerAs
  const source = modelPathOf(job)
  if (name === undefined || source === undefined || job.status?.state !== 'Completed') return undefined
  const metrics = Object.entries(job.status.metrics ?? {}).map(([key, value]) => [`metric.${key}`, String(value)])
  const { dataset } = job.spec
  const lineage = { ...tagsOf(job), ...(dataset !== undefined && { [`${PREFIX}dataset`]: dataset }) }
  return { name, source, tags: { ...lineage, ...(Object.fromEntries(metrics) as Record<string, string>) } }
}
