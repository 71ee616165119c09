/** A Job that judges a version by the exit code of one container. */
import { Job } from '../../../kube/resources.ts'
import { type ModelComponent, ROLE_LABEL } from '../../model-names.ts'
import type { ServedModel } from '../observe/served-model.ts'
import { child } from './child.ts'
import type { PodTemplate } from './pod-template.ts'

/** What keeps a pod from a verdict is retried; a verdict is final. */
const RETRIES = 2

export interface Judging {
  readonly name: string
  readonly version: string
  /** Role of the pods, and component of the Job. */
  readonly role: ModelComponent
  /** Its exit code is the verdict. */
  readonly container: string
  readonly timeoutSeconds: number
  readonly template: PodTemplate
}

export function judgingJob(
  model: ServedModel,
  { name, version, role, container, timeoutSeconds, template }: Judging,
): Job {
  const isVerdict = { containerName: container, operator: 'NotIn', values: [0] }
  return {
    ...child(model, Job, name, { component: role, version, labels: { [ROLE_LABEL]: role } }),
    spec: {
      backoffLimit: RETRIES,
      activeDeadlineSeconds: timeoutSeconds,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: isVerdict, onPodConditions: [] }] },
      template,
    },
  }
}
