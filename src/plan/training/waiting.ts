/** Why a gang is not complete yet: the first thing that somebody could do something about, in words they can act on. */
import type { PersistentVolumeClaim } from '../../kube/resources.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import { claimNames } from './claims.ts'
import { containerOf, type Member } from './member.ts'
import { claimName } from './names.ts'
import type { TrainingObserved } from './observed.ts'

export interface Waiting {
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
  /** Worth a warning: it will not pass by itself. */
  readonly isProblem: boolean
  /** No node has been found: the job has not begun to run anywhere. */
  readonly isUnschedulable: boolean
}

export function waitingFor(observed: TrainingObserved, members: readonly Member[]): Waiting {
  const pending = members.filter(({ phase }) => phase === 'Pending')
  return (
    missingClaim(observed) ??
    badImage(pending) ??
    unscheduled(observed, pending, members) ??
    unbound(observed) ??
    starting(pending, members)
  )
}

function problem(reason: string, message: string, isUnschedulable: boolean): Waiting {
  return { reason, message, isProblem: true, isUnschedulable }
}

/** Ours is created with the job; the others have to be there. */
function missingClaim({ job, claims }: TrainingObserved): Waiting | undefined {
  const there = new Set(claims.map(({ metadata }) => metadata.name))
  const missing = claimNames(job).filter((name) => name !== claimName(job) && !there.has(name))
  if (missing.length === 0) return undefined
  return problem('VolumeNotFound', `PersistentVolumeClaim ${missing.join(', ')} does not exist: create it`, true)
}

const IMAGE_TROUBLE = /^(ErrImage|ImagePull|InvalidImageName|ErrImageNeverPull|RegistryUnavailable|ImageInspectError)/
const CONFIG_TROUBLE = /^(CreateContainer|RunContainerError|CrashLoopBackOff)/

function badImage(pending: readonly Member[]): Waiting | undefined {
  for (const member of pending) {
    const { reason = '', message = '' } = containerOf(member)?.state?.waiting ?? {}
    if (IMAGE_TROUBLE.test(reason))
      return problem(
        'ImagePullFailed',
        `${member.podName}: ${reason}: ${message}; check image and imagePullSecrets`,
        false,
      )
    if (CONFIG_TROUBLE.test(reason)) return problem(reason, `${member.podName}: ${message}`, false)
  }
  return undefined
}

function unscheduled(
  { job, config }: TrainingObserved,
  pending: readonly Member[],
  members: readonly Member[],
): Waiting | undefined {
  const waiting = pending.flatMap((member) => {
    const condition = member.pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    return condition?.status === 'False' && condition.reason === 'Unschedulable' ? (condition.message ?? '') : []
  })
  const [said] = waiting
  if (said === undefined) return undefined
  const found = SHORTAGES.find(([pattern]) => pattern.test(said))
  const reason = said.includes(`Insufficient ${config.gpuResource}`)
    ? 'InsufficientGPU'
    : (found?.[1] ?? 'Unschedulable')
  const message = `${waiting.length} of ${members.length} workers wait for a node${demand(job, reason, waiting.length)}: ${said}`
  return problem(reason, message, true)
}

const SHORTAGES: readonly [RegExp, string][] = [
  [/persistentvolumeclaim|PersistentVolume/i, 'VolumeNotBound'],
  [/Insufficient /, 'InsufficientResources'],
  [/node affinity|node selector|didn't match/i, 'NoMatchingNode'],
]

function demand({ spec }: TrainingJob, reason: string, waiting: number): string {
  if (reason !== 'InsufficientGPU') return ''
  return ` with ${spec.gpusPerWorker} GPUs each (${spec.gpusPerWorker * waiting} requested)`
}

function unbound({ claims }: TrainingObserved): Waiting | undefined {
  const waiting = claims.filter(({ status }) => status?.phase === 'Lost')
  if (waiting.length === 0) return undefined
  return problem('VolumeNotBound', `PersistentVolumeClaim ${names(waiting)} has lost its volume`, true)
}

const names = (claims: readonly PersistentVolumeClaim[]): string =>
  claims.map(({ metadata }) => metadata.name).join(', ')

function starting(pending: readonly Member[], members: readonly Member[]): Waiting {
  const message = `${members.length - pending.length} of ${members.length} workers run`
  return { reason: 'WorkersStarting', message, isProblem: false, isUnschedulable: false }
}
