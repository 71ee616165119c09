/** The Job that validates a version. A failed fetch is retried; a failed validation is final. */
import type { Job } from '../../../kube/resources.ts'
import type { ServingConfig } from '../config.ts'
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'
import { judgingJob } from './judging-job.ts'
import { validationTemplate } from './pod-template.ts'
import { VALIDATION_CONTAINER } from './validation-pod.ts'

interface Run {
  readonly name: string
  readonly config: ServingConfig
}

export function validationJob(model: ServedModel, version: ServedVersion, { name, config }: Run): Job {
  return judgingJob(model, {
    name,
    version: version.name,
    role: 'validation',
    container: VALIDATION_CONTAINER,
    timeoutSeconds: model.validation?.timeoutSeconds ?? 0,
    template: validationTemplate(model, version, config),
  })
}
