/**
 * The validation of a version: a Job that runs a script against the very model, image and files that would serve. A version
 * starts, or changes, only after it has passed; what has passed is on record in the status, so the Job may be tidied away.
 */
import { Job } from '../../kube/resources.ts'
import { fingerprint } from '../fingerprint.ts'
import type { Trouble } from '../pod-trouble.ts'
import { child } from './child.ts'
import { fetchTrouble, lastWords } from './trouble.ts'
import { ROLE_LABEL, validationName, VERSION_LABEL } from '../model-names.ts'
import { VALIDATION_CONTAINER, validationTemplate } from './pod-template.ts'
import type { Scene } from './scene.ts'
import type { ServedModel, ServedVersion } from './served-model.ts'
import type { Wanted } from './deployment.ts'

export interface ValidationState {
  readonly outcome: 'passed' | 'running' | 'failed'
  /** What is, or was, judged. */
  readonly digest: string
  readonly jobName: string
  /** To be created, if it is not there. */
  readonly job?: Job
  readonly trouble?: Trouble
}

/** Nothing for a model that needs no validation. */
export function validationOf(scene: Scene, version: Wanted): ValidationState | undefined {
  const { model, observed } = scene
  if (!model.validation) return undefined
  const digest = digestOf(model, version.wanted)
  const jobName = validationName(model, version.name, digest)
  if (version.known?.validated === digest) return { outcome: 'passed', digest, jobName }
  const job = observed.jobs.find(({ metadata }) => metadata.name === jobName)
  if (!job) return { outcome: 'running', digest, jobName, job: jobOf(scene, version.wanted, jobName) }
  const has = (wanted: string): boolean =>
    job.status?.conditions?.some(({ type, status }) => type === wanted && status === 'True') ?? false
  if (has('Complete')) return { outcome: 'passed', digest, jobName }
  if (has('Failed')) return { outcome: 'failed', digest, jobName, trouble: failureOf(scene, version.name, job) }
  return { outcome: 'running', digest, jobName }
}

/** Only what can change the verdict: more memory or another node judges no model anew. */
function digestOf({ validation, server, modelName }: ServedModel, { uri, image, env }: ServedVersion): string {
  const { script, image: own } = validation ?? {}
  return fingerprint(JSON.stringify([uri, own ?? image, script, modelName, server.model, server.env, env]))
}

/** A fetch that failed is tried again; a verdict is final. */
const RETRIES = 2

function jobOf({ model, observed }: Scene, version: ServedVersion, name: string): Job {
  const template = validationTemplate(model, version, observed.config)
  const isVerdict = { containerName: VALIDATION_CONTAINER, operator: 'NotIn', values: [0] }
  return {
    ...child(model, Job, name, { [VERSION_LABEL]: version.name, [ROLE_LABEL]: 'validation' }),
    spec: {
      backoffLimit: RETRIES,
      activeDeadlineSeconds: model.validation?.timeoutSeconds ?? 0,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: isVerdict, onPodConditions: [] }] },
      template,
    },
  }
}

function failureOf({ observed, model }: Scene, version: string, job: Job): Trouble {
  const pods = observed.pods.filter(({ metadata }) => metadata.labels?.['job-name'] === job.metadata.name)
  const fetched = pods.map(fetchTrouble).find((trouble) => trouble !== undefined)
  if (fetched) return fetched
  const said = pods.map((pod) => lastWords(pod, VALIDATION_CONTAINER)).find((words) => words !== undefined)
  const failed = job.status?.conditions?.find(({ type }) => type === 'Failed')
  const why = said ?? `${failed?.reason ?? 'Failed'}: ${failed?.message ?? 'it did not end well'}`
  const script = model.validation?.script ?? ''
  const advice = `change the version, or delete Job ${job.metadata.name} to try again`
  return { reason: 'ValidationFailed', message: `${script} refused version ${version}: ${why}; ${advice}` }
}
