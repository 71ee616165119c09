/** The result of the pod that prepares the checkpoints for an attempt: the termination message of its container. */
import type { CheckpointStatus } from '../../../api/training-status.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { compact } from '../../../api/json.ts'
import type { Attempt } from './attempt.ts'
import {
  checkpointDirectory,
  checkpointRoot,
  hasBucket,
  isCheckpointName,
  storageId,
} from '../objects/checkpoint-storage.ts'
import { containerOf, type Member } from './member.ts'

interface Found {
  readonly name: string
  readonly step: number
  readonly time?: string
}

export interface PreparationResult {
  readonly latest?: Found
  readonly count: number
  readonly pruned: number
  readonly imported: boolean
  /** The storage has content in another layout. */
  readonly other: boolean
}

/** Undefined if the message is not a result. */
export function resultOf(member: Member): PreparationResult | undefined {
  const json = messageOf(member)
  const { count, pruned, imported, other, latest } = json
  if (!isCount(count) || !isCount(pruned)) return undefined
  const found = foundIn(latest)
  if (latest !== undefined && !found) return undefined
  return { count, pruned, imported: imported === true, other: other === true, ...(found && { latest: found }) }
}

const MAX_ERROR = 512

/** Why it failed, in one sentence. */
export function errorOf(member: Member): string {
  const { error } = messageOf(member)
  if (typeof error === 'string' && error !== '') return error.slice(0, MAX_ERROR)
  return describeEnd(member).slice(0, MAX_ERROR)
}

function describeEnd(member: Member): string {
  const { reason: cause = 'the pod failed', message: text = cause } = member.pod?.status ?? {}
  const ended = containerOf(member)?.state?.terminated
  if (!ended) return text
  const { exitCode, reason = 'Error', message = '' } = ended
  if (exitCode === 0) return 'its result is not readable: check that training.agentImage is the image of the operator'
  return message.trim().split('\n').at(-1) || `exit code ${exitCode} (${reason})`
}

/** What the status records of a result, for the attempt that follows. */
export function recordOf(job: TrainingJob, attempt: Attempt, result: PreparationResult): CheckpointStatus {
  const { latest, count, other } = result
  const { intervalSeconds } = job.status?.checkpoint ?? {}
  const location = latest && `${checkpointRoot(job.spec)}/${latest.name}`
  const directory = other && !hasBucket(job.spec) ? checkpointDirectory(job.spec) : undefined
  return compact({
    latest: location,
    step: latest?.step,
    time: latest?.time,
    count,
    resumedFrom: location ?? directory,
    attempt: attempt.number,
    storage: storageId(job),
    intervalSeconds,
  })
}

function messageOf(member: Member): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(containerOf(member)?.state?.terminated?.message ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

function foundIn(value: unknown): Found | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { name, step, time } = value as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || !isCheckpointName(name) || !isCount(step)) return undefined
  const saved = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return { name, step, ...(!Number.isNaN(saved) && { time: new Date(saved).toISOString() }) }
}
