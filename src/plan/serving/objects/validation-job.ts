/** The Job that validates a version. */
import { Job } from '../../../kube/resources.ts'
import { ROLE_LABEL } from '../../model-names.ts'
import type { ServingConfig } from '../config.ts'
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'
import { child } from './child.ts'
import { validationTemplate } from './pod-template.ts'
import { VALIDATION_CONTAINER } from './validation-pod.ts'

/** A failed fetch is retried; a failed validation is final. */
const RETRIES = 2

interface Run {
  readonly name: string
  readonly config: ServingConfig
}

export function validationJob(model: ServedModel, version: ServedVersion, { name, config }: Run): Job {
  const template = validationTemplate(model, version, config)
  const isVerdict = { containerName: VALIDATION_CONTAINER, operator: 'NotIn', values: [0] }
  return {
    ...child(model, Job, name, {
      component: 'validation',
      version: version.name,
      labels: { [ROLE_LABEL]: 'validation' },
    }),
    spec: {
      backoffLimit: RETRIES,
      activeDeadlineSeconds: model.validation?.timeoutSeconds ?? 0,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: isVerdict, onPodConditions: [] }] },
      template,
    },
  }
}
