/** The objects of a job beside its pods. */
import type { Plan } from '../../../kube/plan.ts'
import type { Attempt } from '../observe/attempt.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { checkpointClaims } from './claims.ts'
import { configMaps } from './config-map.ts'
import { generatedSecrets } from './generated-secrets.ts'
import { headlessService } from './service.ts'

type Children = Pick<Plan, 'apply' | 'keep'>

export function childrenOf({ job, config }: TrainingObserved, attempt: Attempt): Children {
  return { keep: checkpointClaims(job, config), apply: [headlessService(job), ...configMaps(job, attempt)] }
}

/** Created just before the pods that mount them. Existing ones are not changed. */
export function secretsOf({ job, secretData }: TrainingObserved): Pick<Plan, 'create'> {
  const secrets = generatedSecrets(job, secretData)
  return secrets.length > 0 ? { create: secrets } : {}
}
