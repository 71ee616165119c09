/** Events: one for each transition of a gang, never one per pod. Each says what happened, why, and what comes next. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { EventNote } from '../../../decision/plan.ts'
import { DELETED } from '../observe/disruption.ts'
import type { Failure } from '../observe/failure.ts'
import { CHANGE_PENDING_MESSAGE } from './conditions.ts'
import { allOf, nameOf, portion, quantify } from './wording.ts'

const normal = (reason: string, action: string, note: string): EventNote => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, action: string, note: string): EventNote => ({ type: 'Warning', reason, action, note })

const NOT_COUNTED = 'not counted against backoffLimit'

export const workersCreated = (created: number, all: number, attempt: number): EventNote =>
  normal('WorkersCreated', 'CreateWorkers', `Created ${portion(created, all, 'worker pod')} (attempt ${attempt})`)

export const trainingStarted = (workers: number, attempt: number): EventNote =>
  normal('TrainingStarted', 'Train', `${portion(workers, workers, 'worker')} running (attempt ${attempt})`)

export const trainingCompleted = (message: string): EventNote => normal('TrainingCompleted', 'Complete', message)

export const trainingFailed = (reason: string, message: string): EventNote => warning('TrainingFailed', reason, message)

/** `action`: what is done about it. */
export const workerFailed = (failure: Failure, action: string): EventNote =>
  warning(failure.disrupted ? 'WorkerDisrupted' : 'WorkerFailed', 'Restart', `${describeFailure(failure)}; ${action}`)

export const suspended = (): EventNote =>
  normal('Suspended', 'Suspend', 'All workers are stopped; set spec.suspend to false to resume')

export const resumed = (workers: number, attempt: number): EventNote =>
  normal('Resumed', 'Resume', `Resumed: creating ${quantify(workers, 'worker')} (attempt ${attempt})`)

export const scaled = (from: number, to: number, attempt: number): EventNote =>
  normal(
    'Scaled',
    'Scale',
    `Scaling from ${from} to ${quantify(to, 'worker')}; restarting ${allOf(to, 'worker')} (attempt ${attempt}, ${NOT_COUNTED})`,
  )

export const specChanged = (workers: number, attempt: number): EventNote =>
  normal(
    'SpecChanged',
    'Recreate',
    `Spec changed before any worker started; recreating ${quantify(workers, 'worker')} (attempt ${attempt}, ${NOT_COUNTED})`,
  )

export const changeIsPending = (): EventNote => normal('ChangePending', 'Revise', CHANGE_PENDING_MESSAGE)

export const waitingProblem = (reason: string, message: string): EventNote => warning(reason, 'Schedule', message)

/** `Worker 3 on gpu-7 exited with code 137 (OOMKilled)` */
export function describeFailure(failure: Failure): string {
  const { member, reason, message, exitCode, disrupted } = failure
  const node = member.pod?.spec?.nodeName
  const name = `${nameOf(member)}${node === undefined ? '' : ` on ${node}`}`
  if (disrupted) return `${name} ${describeDisruption(failure)}`
  if (isStartError(reason)) return `${name} could not start (${reason}): ${message}`
  if (exitCode === undefined) return `${name} failed (${reason}): ${message}`
  return `${name} exited with code ${exitCode} (${reason})`
}

function describeDisruption({ reason, message }: Failure): string {
  if (reason === DELETED) return 'was deleted'
  const verb = VERBS[reason]
  return verb === undefined ? `was lost (${reason}): ${message}` : `${verb}: ${message}`
}

const VERBS: Readonly<Record<string, string>> = { Preempted: 'was preempted', Evicted: 'was evicted' }

/** The container runtime could not start the process, so there is no log. */
const isStartError = (reason: string): boolean => reason === 'StartError' || reason === 'ContainerCannotRun'

/** Where the log of the failed pod is, if it has one: `. See kubectl logs -n team-a bert-workers-0`. */
export function logHint({ metadata, spec }: TrainingJob, failure: Failure, log: string | undefined): string {
  const { member, reason, disrupted } = failure
  if (disrupted || isStartError(reason)) return ''
  if (spec.cleanPodPolicy !== 'All') return `. See kubectl logs -n ${metadata.namespace ?? 'default'} ${member.podName}`
  if (log !== undefined) return '. The last log lines are in status.lastFailure.log'
  return '. Its log was deleted with the pod (cleanPodPolicy All)'
}
