/**
 * Validates versions: a Job runs a script against the model, image and files that would serve. A version starts, or changes,
 * only after it has passed. The status records what has passed, so the Job may be deleted.
 */
import type { Job, Pod } from '../../../kube/resources.ts'
import { shortageOf, type Trouble, unschedulable } from '../../pod-trouble.ts'
import { fetchTrouble, imageTrouble, lastOutput } from '../report/trouble.ts'
import { validationName } from '../../model-names.ts'
import { lacksImageVolume, unsupportedImageVolumes } from '../objects/image-volume.ts'
import { VALIDATION_CONTAINER } from '../objects/validation-pod.ts'
import type { ModelView } from '../observe/view.ts'
import { isCarriedOver, validationDigest } from '../objects/validation-digest.ts'
import { validationJob } from '../objects/validation-job.ts'
import { modelOf } from '../observe/served-model.ts'
import { isWanted, type Version, type WantedVersion } from '../observe/version.ts'
import { isClearing, isRemoving } from '../rollout/strategy.ts'

export interface ValidationState {
  readonly outcome: 'passed' | 'running' | 'failed'
  /** Of what is, or was, validated. */
  readonly digest: string
  readonly jobName: string
  /** To be created. Absent if it exists or is not needed. */
  readonly job?: Job
  readonly trouble?: Trouble
  /** Passed under the digest of an earlier release. */
  readonly isCarriedOver?: boolean
}

/** The validation of every version of the spec, by name. Empty for a model without validation. */
export function validate(view: ModelView): ReadonlyMap<string, ValidationState> {
  const validations = view.versions
    .filter(isWanted)
    .filter((version) => !isAwaiting(view, version))
    .map((version) => [version.name, validationOf(view, version)] as const)
  return new Map(validations.flatMap(([name, validation]) => (validation ? [[name, validation] as const] : [])))
}

/** It starts, and is validated, only when the versions before it are gone. */
export function isAwaiting({ travel }: ModelView, { name, wanted, deployment }: Version): boolean {
  if (!travel || !isRemoving(travel) || !wanted || deployment) return false
  return isClearing(travel) || !((travel.stable.get(name) ?? 0) > 0)
}

/** A version whose validation has not passed neither starts nor changes. */
export function isHeld(validations: ReadonlyMap<string, ValidationState>, { name }: Version): boolean {
  return (validations.get(name)?.outcome ?? 'passed') !== 'passed'
}

function validationOf(view: ModelView, version: WantedVersion): ValidationState | undefined {
  const { observed } = view
  const model = modelOf(view.model, version.wanted)
  if (!model.validation) return undefined
  const { config } = observed
  const digest = validationDigest(model, version.wanted, config)
  const jobName = validationName(model, version.name, digest)
  if (version.recorded?.validated === digest) return { outcome: 'passed', digest, jobName }
  if (isCarriedOver(model, version, config)) return { outcome: 'passed', digest, jobName, isCarriedOver: true }
  const job = observed.jobs.find(({ metadata }) => metadata.name === jobName)
  if (!job)
    return {
      outcome: 'running',
      digest,
      jobName,
      job: validationJob(model, version.wanted, { name: jobName, config }),
    }
  if (lacksImageVolume(version.wanted, job.spec?.template.spec)) {
    const trouble = unsupportedImageVolumes(version.wanted, ` and delete Job ${jobName}`)
    return { outcome: 'failed', digest, jobName, trouble }
  }
  const has = (wanted: string): boolean =>
    job.status?.conditions?.some(({ type, status }) => type === wanted && status === 'True') ?? false
  if (has('Complete')) return { outcome: 'passed', digest, jobName }
  if (has('Failed')) return { outcome: 'failed', digest, jobName, trouble: failureOf(view, version.name, job) }
  const trouble = obstacleOf(view, version, job)
  return { outcome: 'running', digest, jobName, ...(trouble && { trouble }) }
}

const podsOf = ({ observed }: ModelView, job: Job): Pod[] =>
  observed.pods.filter(({ metadata }) => metadata.labels?.['job-name'] === job.metadata.name)

/** What keeps a validation from starting. The Job retries until its deadline. */
function obstacleOf(view: ModelView, { wanted }: WantedVersion, job: Job): Trouble | undefined {
  const pods = podsOf(view, job)
  if (pods.some(hasStarted)) return undefined
  for (const pod of pods) {
    const trouble = fetchTrouble(pod) ?? imageTrouble(pod, wanted) ?? unscheduled(view, pod)
    if (trouble) return { ...trouble, isWaiting: true }
  }
  return undefined
}

function hasStarted({ status }: Pod): boolean {
  const found = status?.containerStatuses?.find(({ name }) => name === VALIDATION_CONTAINER)
  return found?.state?.running !== undefined || found?.state?.terminated?.exitCode === 0
}

function unscheduled({ observed: { config } }: ModelView, pod: Pod): Trouble | undefined {
  const message = unschedulable(pod)
  if (message === undefined) return undefined
  return {
    reason: shortageOf(message, config.gpuResource),
    message: `${pod.metadata.name} is unschedulable: ${message}`,
  }
}

function failureOf(view: ModelView, version: string, job: Job): Trouble {
  const { model } = view
  const pods = podsOf(view, job)
  const fetched = pods.map(fetchTrouble).find((trouble) => trouble !== undefined)
  if (fetched) return fetched
  const output = pods.map((pod) => lastOutput(pod, VALIDATION_CONTAINER)).find((text) => text !== undefined)
  const failed = job.status?.conditions?.find(({ type }) => type === 'Failed')
  const why = output ?? `${failed?.reason ?? 'Failed'}: ${failed?.message ?? 'the Job failed'}`
  const script = model.validation?.script ?? ''
  const advice = `change the version, or delete Job ${job.metadata.name} to retry`
  return { reason: 'ValidationFailed', message: `Validation of ${version} with ${script} failed: ${why}; ${advice}` }
}
