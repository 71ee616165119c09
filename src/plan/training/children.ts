/** What every attempt of a job needs beside its pods, and what outlives it. */
import type { Plan } from '../plan.ts'
import type { Attempt } from './attempt.ts'
import { checkpointClaims } from './claims.ts'
import { configMaps } from './config-map.ts'
import type { TrainingObserved } from './observed.ts'
import { headlessService } from './service.ts'
import { sshSecret } from './ssh-secret.ts'

type Children = Pick<Plan, 'apply' | 'keep'>

export function childrenOf({ job, config }: TrainingObserved, attempt: Attempt): Children {
  return { keep: checkpointClaims(job, config), apply: [headlessService(job), ...configMaps(job, attempt)] }
}

/** Created just before pods that need it; what is there already stays. */
export function secretsOf({ job, sshKeys }: TrainingObserved): Pick<Plan, 'create'> {
  return sshKeys ? { create: [sshSecret(job, sshKeys)] } : {}
}
