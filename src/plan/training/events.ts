/** Events: one for each transition of a gang, never one per pod. What happened – why – what comes next. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { EventNote } from '../plan.ts'
import type { Failure } from './failure.ts'
import { WORKER } from './names.ts'

const normal = (reason: string, action: string, note: string): EventNote => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, action: string, note: string): EventNote => ({ type: 'Warning', reason, action, note })

export const workersCreated = (created: number, all: number, attempt: number): EventNote =>
  normal(
    'WorkersCreated',
    'CreateWorkers',
    `Created ${created} of ${all} worker pods (attempt ${attempt}); waiting for them to run`,
  )

export const trainingStarted = (workers: number, attempt: number): EventNote =>
  normal('TrainingStarted', 'Train', `All ${workers} workers run (attempt ${attempt})`)

export const trainingCompleted = (message: string): EventNote =>
  normal('TrainingCompleted', 'Complete', `Training job completed successfully: ${message}`)

export const trainingFailed = (reason: string, message: string): EventNote => warning('TrainingFailed', reason, message)

export const workerFailed = (failure: Failure, next: string): EventNote =>
  failure.disrupted
    ? warning('WorkerDisrupted', 'Restart', `${accountOf(failure)}; ${next}`)
    : warning('WorkerFailed', 'Restart', `${accountOf(failure)}; ${next}`)

export const suspended = (): EventNote =>
  normal('Suspended', 'Suspend', 'All workers are gone; set spec.suspend to false to go on')

export const resumed = (attempt: number): EventNote =>
  normal('Resumed', 'Resume', `Starting the workers again (attempt ${attempt})`)

export const scaled = (from: number, to: number, attempt: number): EventNote =>
  normal(
    'Scaled',
    'Scale',
    `From ${from} to ${to} workers: all are started again with the new number (attempt ${attempt})`,
  )

export const waits = (reason: string, message: string): EventNote => warning(reason, 'Schedule', message)

/** `worker 3 on gpu-7 exited 137 (OOMKilled)` */
export function accountOf({ member, reason, message, exitCode, disrupted }: Failure): string {
  const { role, index, pod } = member
  const node = pod?.spec?.nodeName
  const who = `${role === WORKER ? 'worker' : role} ${index}${node === undefined ? '' : ` on ${node}`}`
  if (disrupted) return `${who} was lost (${reason}): ${message}`
  return exitCode === undefined ? `${who} failed (${reason}): ${message}` : `${who} exited ${exitCode} (${reason})`
}

/** Where to look further. */
export const logsOf = ({ metadata }: TrainingJob, podName: string): string =>
  `kubectl logs -n ${metadata.namespace ?? 'default'} ${podName}`
