/**
 * The condition `ResourcesCreated`: all objects of the attempt exist. Once a job has finished, pods that are gone do not
 * change it.
 */
import { getCondition } from '../../../api/conditions.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { engineOf } from '../engines/registry.ts'
import { replicasOf } from '../frameworks/roles.ts'
import { isFinal } from '../observe/state.ts'
import { type Creation, RESOURCES_CREATED } from './conditions.ts'
import type { StatusUpdate } from './status.ts'
import { allOf, portion } from './wording.ts'

export function creationOf(job: TrainingJob, { attempt, members, state }: StatusUpdate): Creation {
  const wanted = attempt.number > 0 ? replicasOf(job, attempt).length : 0
  if (wanted > 0 && members.length >= wanted)
    return { isDone: true, reason: engineOf(job.spec).createdReason, message: `Created ${allOf(wanted, 'pod')}` }
  const recorded = getCondition(job.status?.conditions, RESOURCES_CREATED)
  if (isFinal(state) && recorded)
    return { isDone: recorded.status === 'True', reason: recorded.reason, message: recorded.message }
  const message = members.length > 0 ? `Created ${portion(members.length, wanted, 'pod')}` : ''
  return { isDone: false, reason: state, message }
}
