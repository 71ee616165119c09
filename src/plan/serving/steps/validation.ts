/**
 * Validates versions: a Job runs a script against the model, image and files that would serve. A version starts, or changes,
 * only after it has passed. The status records what has passed, so the Job may be deleted.
 */
import type { Job } from '../../../kube/resources.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { fetchTrouble } from '../report/trouble.ts'
import { jobPods, obstacleOf, verdictOf, whyFailed } from '../observe/job-outcome.ts'
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
  const verdict = verdictOf(job)
  if (verdict === 'passed') return { outcome: 'passed', digest, jobName }
  if (verdict === 'failed') return { outcome: 'failed', digest, jobName, trouble: failureOf(view, version.name, job) }
  const trouble = obstacleOf(view, job, VALIDATION_CONTAINER, version.wanted)
  return { outcome: 'running', digest, jobName, ...(trouble && { trouble }) }
}

function failureOf(view: ModelView, version: string, job: Job): Trouble {
  const { model } = view
  const fetched = jobPods(view, job)
    .map(fetchTrouble)
    .find((trouble) => trouble !== undefined)
  if (fetched) return fetched
  const why = whyFailed(view, job, VALIDATION_CONTAINER)
  const script = model.validation?.script ?? ''
  const advice = `change the version, or delete Job ${job.metadata.name} to retry`
  return { reason: 'ValidationFailed', message: `Validation of ${version} with ${script} failed: ${why}; ${advice}` }
}
