/**
 * A gang that holds nodes for some of its pods while others find none. Two such gangs can wait for each other for ever.
 * Without a gang scheduler the operator ends that: after a time the gang gives its nodes back.
 */
import { fingerprint } from '../../fingerprint.ts'
import { unschedulable } from '../../pod-trouble.ts'
import { millis } from '../../time.ts'
import { isElastic } from '../frameworks/elasticity.ts'
import { gangChoice, neededReplicas } from './gang-choice.ts'
import { isActive, isTerminating } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import type { Snapshot } from './snapshot.ts'

export interface PartialGang {
  /** Number of pods with a node. */
  readonly placed: number
  /** Number of pods that find none. */
  readonly waiting: number
}

/** Undefined if no pod waits, none has a node, or the job can train with those that have one. */
export function partialGang({ job, gang, attempt }: Snapshot): PartialGang | undefined {
  const members = gang.filter((member) => isActive(member) && !isTerminating(member))
  const placed = gang.filter(({ pod }) => pod?.spec?.nodeName !== undefined).length
  const waiting = members.filter(({ pod }) => pod && unschedulable(pod) !== undefined).length
  const canTrain = isElastic(job.spec) && placed >= neededReplicas({ job }, attempt).length
  return placed === 0 || waiting === 0 || canTrain ? undefined : { placed, waiting }
}

/** Milliseconds until the gang gives its nodes back; 0 if that is due. Undefined if it keeps them. */
export function untilRelease(snapshot: Snapshot): number | undefined {
  const { job, observed, attempt } = snapshot
  const { partialSince, attempt: of } = job.status?.scheduling ?? {}
  const since = of === attempt.number ? millis(partialSince) : undefined
  const limit = gangTimeoutSeconds(observed) * 1000
  if (since === undefined || limit === 0 || gangChoice(observed, attempt).scheduler.placesTogether) return undefined
  if (!partialGang(snapshot)) return undefined
  return Math.max(0, since + limit * (1 + jitter(snapshot) / 2) - observed.now)
}

export const gangTimeoutSeconds = ({ job, config }: TrainingObserved): number =>
  job.spec.scheduling?.gangTimeoutSeconds ?? Math.round(config.gangTimeoutMs / 1000)

/** The pause before the next attempt: doubled with each release in a row, and up to twice as long by chance. */
export function pauseAfterRelease(snapshot: Snapshot, releases: number): number {
  const { backoffMs, backoffLimitMs } = snapshot.observed.config
  return Math.min(backoffMs * 2 ** (releases - 1), backoffLimitMs) * (1 + jitter(snapshot))
}

const STEPS = 1009

/** From 0 to 1: the same in every pass, different for every job and attempt, so that two jobs do not act at the same time. */
function jitter({ job, attempt }: Snapshot): number {
  const hash = Number.parseInt(fingerprint(`${attempt.number} ${job.metadata.uid ?? ''}`), 16)
  return (hash % STEPS) / STEPS
}
