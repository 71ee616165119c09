/** The objects of a job beside its pods. */
import { toWrite, type PlannedWrite } from '../../../decision/plan.ts'
import type { Attempt } from '../observe/attempt.ts'
import { gangChoice } from '../observe/gang-choice.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { checkpointClaims } from './claims.ts'
import { configMaps } from './config-map.ts'
import { generatedSecrets } from './generated-secrets.ts'
import { podGroupOf } from './pod-group.ts'
import { headlessService } from './service.ts'

/** The PodGroup is last, and before the pods: their scheduler finds it. */
export function childrenOf(observed: TrainingObserved, attempt: Attempt): PlannedWrite[] {
  const { job, config } = observed
  // With quota, the group exists before the attempt starts.
  const hasQuota = gangChoice(observed, attempt).scheduler.quota !== undefined
  const group = hasQuota ? undefined : podGroupOf(observed, attempt)
  return [
    ...toWrite('createUnowned', checkpointClaims(job, config)),
    ...toWrite('apply', [headlessService(job), ...configMaps(job, attempt), ...(group ? [group] : [])]),
  ]
}

/** Created in the plan that creates the pods that mount them. Existing ones are not changed. */
export function secretsOf({ job, secretData }: TrainingObserved): PlannedWrite[] {
  return toWrite('createUnread', generatedSecrets(job, secretData))
}
