/** Events: one for each transition of a gang, never one per pod. Each says what happened, why, and what comes next. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { EventNote } from '../../../decision/plan.ts'
import { memberNoun } from '../frameworks/roles.ts'
import { WORKER } from '../names.ts'
import { DELETED } from '../observe/disruption.ts'
import type { Failure } from '../observe/failure.ts'
import { CHANGE_PENDING_MESSAGE } from './conditions.ts'
import { allOf, nameOf, portion, quantify } from './wording.ts'

const normal = (reason: string, action: string, note: string): EventNote => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, action: string, note: string): EventNote => ({ type: 'Warning', reason, action, note })

const NOT_COUNTED = 'not counted against backoffLimit'

/** Once, when all objects of the first attempt exist. */
export const resourcesCreated = (objects: readonly string[], pods: number): EventNote =>
  normal('Created', 'Create', `TrainingJob resources created: ${[...objects, quantify(pods, 'pod')].join(', ')}`)

/** `pods`: of all roles. */
export const workersCreated = (created: number, pods: number, { spec }: TrainingJob, attempt: number): EventNote => {
  const noun = memberNoun(spec) === WORKER ? 'worker pod' : 'pod'
  return normal('WorkersCreated', 'CreateWorkers', `Created ${portion(created, pods, noun)} (attempt ${attempt})`)
}

export const trainingStarted = (pods: number, { spec }: TrainingJob, attempt: number): EventNote =>
  normal('TrainingStarted', 'Train', `${portion(pods, pods, memberNoun(spec))} running (attempt ${attempt})`)

export const trainingCompleted = (message: string): EventNote => normal('TrainingCompleted', 'Complete', message)

export const trainingFailed = (reason: string, message: string): EventNote => warning('TrainingFailed', reason, message)

/** `action`: what is done about it. */
export const workerFailed = (failure: Failure, action: string): EventNote =>
  warning(failure.disrupted ? 'WorkerDisrupted' : 'WorkerFailed', 'Restart', `${describeFailure(failure)}; ${action}`)

/** `action`: what is done about it. */
export const trainingStalled = (message: string, action: string): EventNote =>
  warning('TrainingStalled', action, `${message}; ${STALL_ACTIONS[action]}`)

const STALL_ACTIONS: Readonly<Record<string, string>> = {
  Warn: 'the workers keep running',
  Restart: 'restarting all workers',
  Fail: 'the job fails',
}
export const modelDeployed = (message: string): EventNote => normal('ModelDeployed', 'Deploy', message)

export const notDeployed = (reason: string, message: string): EventNote =>
  warning('ModelNotDeployed', 'Deploy', `${reason}: ${message}`)

export const modelRegistered = (message: string): EventNote => normal('ModelRegistered', 'Register', message)

export const notTracked = (message: string): EventNote =>
  warning('NotTracked', 'Track', `${message}. The training continues, and MLflow gets what it misses later`)

export const suspended = (): EventNote =>
  normal('Suspended', 'Suspend', 'All workers are stopped; set spec.suspend to false to resume')

export const resumed = (workers: number, attempt: number): EventNote =>
  normal('Resumed', 'Resume', `Resumed: creating ${quantify(workers, 'worker')} (attempt ${attempt})`)

/** `message`: what was given back, and when the next attempt starts. */
export const gangReleased = (message: string): EventNote => warning('GangTimedOut', 'Release', message)

export const jobQueued = (message: string): EventNote => normal('WaitingForQuota', 'Queue', message)

export const quotaGranted = (message: string): EventNote => normal('QuotaGranted', 'Start', message)

/** `message`: why, and what happens to the pods. */
export const quotaWithdrawn = (message: string): EventNote => warning('QuotaWithdrawn', 'Stop', message)

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

export const resizeIsPending = (message: string): EventNote => normal('ResizePending', 'Scale', message)

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

/** `location`: where the attempt resumes; undefined if there is no complete checkpoint. */
export const checkpointChosen = (location: string | undefined, attempt: number, pruned: number): EventNote => {
  const deleted = pruned > 0 ? `; deleted ${quantify(pruned, 'older checkpoint')}` : ''
  return location === undefined
    ? warning(
        'NoCheckpoint',
        'Resume',
        `There is no complete checkpoint: attempt ${attempt} starts from the beginning${deleted}`,
      )
    : normal('CheckpointChosen', 'Resume', `Attempt ${attempt} resumes from ${location}${deleted}`)
}

export const checkpointsFailed = (message: string): EventNote => warning('CheckpointsFailed', 'Resume', message)

export const checkpointOverdue = (message: string): EventNote => warning('CheckpointOverdue', 'Save', message)

export const checkpointsLeft = (location: string, why: string): EventNote =>
  warning('CheckpointsLeft', 'Delete', `The checkpoints in ${location} were not deleted: ${why}; delete them yourself`)
