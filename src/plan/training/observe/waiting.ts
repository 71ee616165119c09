/** Why some pods of the gang do not run yet: the first cause that a person can act on. */
import type { PersistentVolumeClaim } from '../../../kube/resources.ts'
import { containerTrouble, shortageOf, unschedulable } from '../../pod-trouble.ts'
import { formatDuration } from '../../time.ts'
import { memberNoun } from '../frameworks/roles.ts'
import { claimNames, checkpointClaims } from '../objects/claims.ts'
import { portion } from '../report/wording.ts'
import { CLUSTER_SCHEDULER } from '../gangs/registry.ts'
import { describeGpuShortage } from './gpu-supply.ts'
import { isIgnored, SCHEDULER_PATIENCE_MS } from './ignored-pods.ts'
import { type Member, podsOf, startingContainers } from './member.ts'
import { describeMismatch } from './node-match.ts'
import type { TrainingObserved } from './observed.ts'
import { describeClaim, unprovisionedClaims } from './pending-claims.ts'

export interface Waiting {
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
  /** Worth a warning event: it needs a person to act. */
  readonly isProblem: boolean
  /** Some pod has no node. */
  readonly isUnschedulable: boolean
}

export function waitingFor(observed: TrainingObserved, members: readonly Member[]): Waiting {
  const pending = members.filter(({ phase }) => phase === 'Pending')
  return (
    missingClaim(observed) ??
    blockedContainer(pending) ??
    unscheduled(observed, pending, members) ??
    unprovisioned(observed) ??
    lostVolume(observed) ??
    ignored(observed, pending, members) ??
    starting(observed, pending, members)
  )
}

function problem(reason: string, message: string, isUnschedulable: boolean): Waiting {
  return { reason, message, isProblem: true, isUnschedulable }
}

/** Claims of the spec have to exist. The one for checkpoints is created with the job. */
function missingClaim({ job, claims, config }: TrainingObserved): Waiting | undefined {
  const there = new Set(claims.map(({ metadata }) => metadata.name))
  const created = new Set(checkpointClaims(job, config).map(({ metadata }) => metadata.name))
  const missing = claimNames(job).filter((name) => !created.has(name) && !there.has(name))
  return missing.length === 0
    ? undefined
    : claimsNotFound(missing, 'checkpoint.storage.claimName, spec.dataVolume or spec.volumes')
}

/** `fields`: those that may name the claims. */
export const claimsNotFound = (names: readonly string[], fields: string): Waiting =>
  problem(
    'VolumeNotFound',
    `PersistentVolumeClaim ${names.join(', ')} does not exist: create it, or correct ${fields}`,
    true,
  )

function blockedContainer(pending: readonly Member[]): Waiting | undefined {
  for (const member of pending) {
    for (const { state } of startingContainers(member)) {
      const trouble = containerTrouble(member.podName, state?.waiting)
      if (trouble) return problem(trouble.reason, trouble.message, false)
    }
  }
  return undefined
}

function unscheduled(
  observed: TrainingObserved,
  pending: readonly Member[],
  members: readonly Member[],
): Waiting | undefined {
  const waiting = pending.filter(({ pod }) => pod && unschedulable(pod) !== undefined)
  const cause = waiting[0]?.pod && unschedulable(waiting[0].pod)
  if (cause === undefined) return undefined
  const reason = shortageOf(cause, observed.config.gpuResource)
  if (reason === 'VolumeNotBound') return notBound(observed, cause)
  const needs = needsOf(reason, observed, waiting)
  return problem(
    reason,
    `${portion(waiting.length, members.length, memberNoun(observed.job.spec))} waiting for a node${needs}: ${cause}`,
    true,
  )
}

/** What the scheduler does not name: numbers of GPUs, labels and taints. */
function needsOf(reason: string, observed: TrainingObserved, waiting: readonly Member[]): string {
  if (reason === 'InsufficientGPU') return ` with ${describeGpuShortage(observed, waiting)}`
  const mismatch = reason === 'NoMatchingNode' ? describeMismatch(observed, waiting) : ''
  return mismatch === '' ? '' : `; ${mismatch}`
}

/** The message of the scheduler names neither the claim nor its StorageClass. */
function notBound(observed: TrainingObserved, schedulerMessage: string): Waiting {
  const waiting = observed.claims.filter(({ status }) => status?.phase !== 'Bound')
  if (waiting.length === 0) return problem('VolumeNotBound', schedulerMessage, true)
  return problem('VolumeNotBound', `${describeAll(observed, waiting)} (scheduler: ${schedulerMessage})`, true)
}

function unprovisioned(observed: TrainingObserved): Waiting | undefined {
  const claims = unprovisionedClaims(observed)
  return claims.length === 0 ? undefined : problem('VolumeNotBound', describeAll(observed, claims), true)
}

const describeAll = (observed: TrainingObserved, claims: readonly PersistentVolumeClaim[]): string =>
  claims.map((claim) => describeClaim(observed, claim)).join('; ')

function lostVolume({ claims }: TrainingObserved): Waiting | undefined {
  const waiting = claims.filter(({ status }) => status?.phase === 'Lost')
  if (waiting.length === 0) return undefined
  return problem('VolumeNotBound', `PersistentVolumeClaim ${names(waiting)} has lost its volume`, true)
}

/** The scheduler is that of the pod, which an edit of the spec does not change. */
function ignored(
  { job, now }: TrainingObserved,
  pending: readonly Member[],
  members: readonly Member[],
): Waiting | undefined {
  const pods = podsOf(pending).filter((pod) => isIgnored(pod, now))
  if (pods.length === 0) return undefined
  const { queueName } = job.spec.scheduling ?? {}
  const queue = queueName === undefined ? '' : ` and that its queue ${queueName} exists`
  return problem(
    'SchedulerUnresponsive',
    `the scheduler ${pods[0]?.spec?.schedulerName ?? CLUSTER_SCHEDULER} has not considered ` +
      `${portion(pods.length, members.length, memberNoun(job.spec))} for ${formatDuration(SCHEDULER_PATIENCE_MS)}: ` +
      `check that it runs${queue}, or change scheduling.gang or scheduling.schedulerName`,
    true,
  )
}

const names = (claims: readonly PersistentVolumeClaim[]): string =>
  claims.map(({ metadata }) => metadata.name).join(', ')

function starting({ job }: TrainingObserved, pending: readonly Member[], members: readonly Member[]): Waiting {
  const noun = memberNoun(job.spec)
  const message = `${portion(members.length - pending.length, members.length, noun)} running`
  return { reason: 'WorkersStarting', message, isProblem: false, isUnschedulable: false }
}
