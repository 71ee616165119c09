/** What the environment of a pod depends on. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Attempt } from '../attempt.ts'
import type { TrainingConfig } from '../config.ts'
import { serviceName, WORKER } from '../names.ts'
import type { Variable } from './variable.ts'

export interface Placement {
  readonly job: TrainingJob
  readonly attempt: Attempt
  readonly config: TrainingConfig
  readonly role: string
  /** Which one of its role: a number, or `$(RANK)` where one template serves all. */
  readonly index: string
  /** Where `RANK` comes from, for workers. */
  readonly rank: Variable
  /** Host name of a pod of the gang, below the name of the job's Service. */
  readonly hostname: (job: TrainingJob, role: string, index: number) => string
}

/** What one framework tells its processes beside what all are told. */
export type Environment = (placement: Placement) => readonly Variable[]

/** The name of rank 0 in DNS. */
export const masterOf = (placement: Placement): string => hostOf(placement, WORKER, 0)

export const hostsOf = (placement: Placement, role: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => hostOf(placement, role, index))

const hostOf = ({ job, hostname }: Placement, role: string, index: number): string =>
  `${hostname(job, role, index)}.${serviceName(job)}`
