/** Which pod of which attempt this is, and how it addresses the others. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Variable } from '../../pod/variable.ts'
import type { Membership } from '../gangs/contract.ts'
import { serviceName, WORKER } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'

export interface PodIdentity {
  readonly job: TrainingJob
  readonly attempt: Attempt
  readonly role: string
  /** Index within the role: a number, or `$(RANK)` where one template serves all workers. */
  readonly index: string
  /** Source of `RANK`, for workers. */
  readonly rank: Variable
  /** Host name of a pod of the gang, below the name of the job's Service. */
  readonly hostname: (job: TrainingJob, role: string, index: number) => string
  /** What its gang scheduler needs. Absent: nothing. */
  readonly membership?: Membership | undefined
}

/** DNS name of rank 0. */
export const masterOf = (pod: PodIdentity): string => hostOf(pod, WORKER, 0)

/** DNS names of all pods of a role. */
export const hostsOf = (pod: PodIdentity, role: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => hostOf(pod, role, index))

const hostOf = ({ job, hostname }: PodIdentity, role: string, index: number): string =>
  `${hostname(job, role, index)}.${serviceName(job)}`

type Hostname = PodIdentity['hostname']
const shared = new WeakMap<TrainingJob, Map<Hostname, Map<string, string>>>()

/**
 * A text that is the same for all pods of an attempt, such as the list of all hosts. Made once for each size of the gang:
 * made for every pod, the work would grow with the square of the number of workers.
 */
export function sharedText(pod: PodIdentity, name: string, make: () => string): string {
  const { job, hostname, attempt } = pod
  const byHostname = shared.get(job) ?? new Map<Hostname, Map<string, string>>()
  const texts = byHostname.get(hostname) ?? new Map<string, string>()
  const key = `${name} ${attempt.worldSize}`
  const text = texts.get(key) ?? make()
  shared.set(job, byHostname.set(hostname, texts.set(key, text)))
  return text
}
