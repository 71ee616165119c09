/** Why a gang is not complete yet: the first thing that somebody could do something about, in words they can act on. */
import type { PersistentVolumeClaim } from '../../kube/resources.ts'
import { containerTrouble, shortageOf } from '../pod-trouble.ts'
import { claimNames } from './claims.ts'
import { gpuShortage, unschedulableMessage } from './gpu-supply.ts'
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

function badImage(pending: readonly Member[]): Waiting | undefined {
  for (const member of pending) {
    const trouble = containerTrouble(member.podName, containerOf(member)?.state?.waiting)
    if (trouble) return problem(trouble.reason, trouble.message, false)
  }
  return undefined
}

function unscheduled(
  observed: TrainingObserved,
  pending: readonly Member[],
  members: readonly Member[],
): Waiting | undefined {
  const waiting = pending.filter(({ pod }) => pod && unschedulableMessage(pod) !== undefined)
  const said = waiting[0]?.pod && unschedulableMessage(waiting[0].pod)
  if (said === undefined) return undefined
  const reason = shortageOf(said, observed.config.gpuResource)
  const needs = reason === 'InsufficientGPU' ? ` with ${gpuShortage(observed, waiting)}` : ''
  return problem(reason, `${waiting.length} of ${members.length} workers wait for a node${needs}: ${said}`, true)
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
