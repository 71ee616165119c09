/**
 * The conditions of a model.
 *
 * - Ready: a ready version gets traffic, and the Service has a ready endpoint.
 * - Healthy: at least 80 % of the pods are available and pass their health check.
 * - Scaled: every version has the pods that it should have, and its autoscaler works.
 * - Progressing: something is under way that ends by itself.
 */
import { isTrue, type Verdict } from '../../../api/conditions.ts'
import type { ServingStatus } from '../../../api/serving-status.ts'
import { isOrAre, portion, quantify } from '../../counted.ts'
import { serviceName } from '../../model-names.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { reasonWord } from '../../reason-word.ts'
import { CONFLICT } from '../../rejection.ts'
import { isSameSplit, type Weights } from '../../traffic/index.ts'
import { type Decisions, desiredPods, type VersionDecision } from '../decisions.ts'
import { availableOf, hasBeenReady, isReady, isRolling } from '../observe/version.ts'
import { HEALTHY_SHARE } from '../observe/version-health.ts'
import type { ModelView } from '../observe/view.ts'
import { needsRoute } from '../steps/provider-state.ts'
import { METRICS } from './metrics-source.ts'
import { recreation, rolloutConditions, rolloutConditionTypes, rolloutProgress, rolloutStop } from './rollout.ts'
import { autoscalerTrouble } from './trouble.ts'

export type Phase = NonNullable<ServingStatus['phase']>

/** Phase, message and conditions of the status. */
export interface Standing {
  readonly phase: Phase
  readonly message: string
  readonly conditions: readonly Verdict[]
}

interface Finding {
  readonly holds: boolean
  readonly reason: string
  readonly message: string
  /** Versions are ready, but requests do not reach them. Reported before anything about versions. */
  readonly isRouting?: boolean
}

/** The types that the operator writes. */
export const conditionTypes = ['Ready', 'Healthy', 'Scaled', 'Progressing'] as const

export function standingOf(view: ModelView, decisions: Decisions): Standing {
  const findings: Readonly<Record<(typeof conditionTypes)[number], Finding>> = {
    Ready: readyOf(view, decisions),
    Healthy: healthyOf(decisions),
    Scaled: scaledOf(view, decisions),
    Progressing: progressOf(view, decisions),
  }
  const phase = phaseOf(decisions, findings.Ready.holds, findings.Healthy.holds)
  const { generation } = view.model.metadata
  const conditions = conditionTypes.map((type) => ({
    type,
    status: findings[type].holds ? ('True' as const) : ('False' as const),
    reason: reasonWord(findings[type].reason),
    message: findings[type].message.slice(0, MAX_MESSAGE),
    ...(generation !== undefined && { observedGeneration: generation }),
  }))
  const problem = problemOf(decisions)
  const progress = findings.Progressing.holds ? findings.Progressing : findings.Ready
  const stop = rolloutStop(decisions)
  const message = findings.Ready.isRouting ? findings.Ready.message : (problem ?? stop ?? progress).message
  return {
    phase,
    message: message.slice(0, MAX_SENTENCE),
    conditions: [...conditions, ...rolloutConditions(decisions, generation)],
  }
}

const MAX_MESSAGE = 4096
export const MAX_SENTENCE = 1024

const wantedOf = ({ versions }: Decisions): readonly VersionDecision[] =>
  versions.filter(({ version }) => version.wanted)

/** The first trouble of a version that the spec has. */
export function problemOf(decisions: Decisions): Trouble | undefined {
  const { unavailable } = decisions.routing
  const own = wantedOf(decisions).find(({ trouble }) => trouble)
  if (own?.trouble) return { ...own.trouble, message: `${own.version.name}: ${own.trouble.message}` }
  return unavailable
}

/** Requests are answered: the current provider sends them to a version that can take them. */
function readyOf(view: ModelView, decisions: Decisions): Finding {
  const { current, reported } = decisions.routing
  const serving = decisions.versions.filter(({ version }) => isReady(version) && (reported.get(version.name) ?? 0) > 0)
  if (serving.length > 0) {
    const message = `${current.provider.name} does not send traffic to a ready version yet`
    if (!isCarrying(view, decisions, serving))
      return { holds: false, isRouting: true, reason: 'RouteNotInEffect', message }
    if (!hasEndpoints(view.observed)) return { holds: false, isRouting: true, ...noEndpoints(view) }
    return { holds: true, reason: 'Serving', message: serving.map(account).join('; ') }
  }
  const problem = problemOf(decisions) ?? recreation(decisions)
  if (problem) return { holds: false, ...problem }
  return {
    holds: false,
    reason: 'Starting',
    message: `Waiting for a ready pod: ${wantedOf(decisions).map(account).join('; ')}`,
  }
}

/** A provider that cannot be observed for a moment stays Ready if it was, unless nothing of it is running. */
function isCarrying({ recorded }: ModelView, { routing }: Decisions, serving: readonly VersionDecision[]): boolean {
  const { current, reported } = routing
  const leadsToPods = !needsRoute(current) || !current.isAvailable
  const weights = leadsToPods ? reported : current.inEffect
  if (weights) return serving.some(({ version }) => (weights.get(version.name) ?? 0) > 0)
  return current.provider.isRunning(current) && isTrue(recorded.conditions, 'Ready')
}

/** Without a ready endpoint every request to the Service is refused, whatever the versions and routes look like. */
export function hasEndpoints({ endpoints }: ModelView['observed']): boolean {
  return endpoints.some((slice) => slice.endpoints?.some(({ conditions }) => conditions?.ready))
}

function noEndpoints({ model }: ModelView): Trouble {
  return { reason: 'NoEndpoints', message: `Service ${serviceName(model)} has no ready endpoints` }
}

/** `v1 has 2 of 3 pods ready` */
function account(decision: VersionDecision): string {
  return `${decision.version.name} has ${countOf(decision)}`
}

/** `v1: 2 of 3 pods ready` */
const podsReady = (decision: VersionDecision): string => `${decision.version.name}: ${countOf(decision)}`

const countOf = (decision: VersionDecision): string =>
  `${portion(availableOf(decision.version), desiredPods(decision), 'pod')} ready`

function healthyOf(decisions: Decisions): Finding {
  const counted = decisions.versions.filter(({ retirement }) => !retirement.isOver)
  const all = counted.reduce((sum, one) => sum + desiredPods(one), 0)
  const healthy = counted.reduce((sum, one) => sum + one.healthy, 0)
  const holds = all > 0 && healthy >= HEALTHY_SHARE * all
  const problem = problemOf(decisions)
  const unreachable = counted.reduce((sum, { replacement }) => sum + (replacement.record?.unreachable ?? 0), 0)
  const message = `${portion(healthy, all, 'pod')} ${isOrAre(all)} healthy${unreachableNote(unreachable)}`
  return holds
    ? { holds, reason: 'PodsHealthy', message }
    : {
        holds,
        reason: problem?.reason ?? 'PodsUnhealthy',
        message: problem ? `${message}: ${problem.message}` : message,
      }
}

/** Such pods count by their probes alone. */
function unreachableNote(count: number): string {
  return count === 0 ? '' : `; the operator cannot connect to ${quantify(count, 'pod')} to check the health`
}

function scaledOf({ observed }: ModelView, decisions: Decisions): Finding {
  const short = wantedOf(decisions).filter((one) => availableOf(one.version) < one.floor)
  if (short.length > 0) {
    const message = short.map(
      (one) => `${one.version.name} has ${availableOf(one.version)} of at least ${quantify(one.floor, 'pod')}`,
    )
    return { holds: false, reason: problemOf(decisions)?.reason ?? 'TooFewPods', message: message.join('; ') }
  }
  const scaled = wantedOf(decisions).filter((one) => one.isAutoscaled)
  const blind = scaled.flatMap(({ version }) => autoscalerTrouble(version, observed.autoscalers) ?? [])
  if (blind.length > 0) return { holds: false, reason: 'AutoscalerInactive', message: blind.join('; ') }
  const unknown = wantedOf(decisions).flatMap(({ version, byRequests }) =>
    byRequests?.problem === undefined ? [] : [`${version.name}: the number of pods stays: ${byRequests.problem}`],
  )
  if (unknown.length > 0) return { holds: false, reason: 'LoadUnknown', message: unknown.join('; ') }
  return { holds: true, reason: 'EnoughPods', message: 'Every version has enough pods' }
}

/** True while something is under way that ends by itself. */
function progressOf(view: ModelView, decisions: Decisions): Finding {
  const step = stepsOf(view, decisions)[0]
  if (step) return { holds: true, ...step }
  const stop = rolloutStop(decisions)
  if (stop) return { holds: false, ...stop }
  const problem = problemOf(decisions)
  if (problem) return { holds: false, ...problem }
  return { holds: false, reason: 'Settled', message: 'The observed state matches the spec' }
}

function stepsOf({ wantedWeights }: ModelView, decisions: Decisions): Trouble[] {
  const { routing, versions } = decisions
  const named = (found: readonly VersionDecision[]): string => found.map(({ version }) => version.name).join(', ')
  const waiting = versions.flatMap(({ version, trouble }) =>
    version.wanted && trouble?.isWaiting ? [{ ...trouble, message: `${version.name}: ${trouble.message}` }] : [],
  )
  const validating = versions.filter(({ validation }) => validation?.outcome === 'running')
  const retiring = versions.filter(({ version }) => !version.wanted)
  const recorded = versions.filter(({ surge }) => surge.record)
  const rolling = versions.filter((one) => one.isWritten && !one.trouble && !one.surge.record && isMoving(one))
  const { previous } = routing.next
  const switching = `Switching traffic from ${previous ?? ''} to ${routing.next.provider}`
  return [
    ...rolloutProgress(decisions),
    ...waiting,
    ...(validating.length > 0 ? [{ reason: 'Validating', message: `Validating ${named(validating)}` }] : []),
    ...recorded.map((one) => ({ reason: 'RollingOut', message: `${one.surge.record?.message} (${countOf(one)})` })),
    ...(rolling.length > 0
      ? [{ reason: 'RollingOut', message: `Rolling out ${rolling.map(podsReady).join('; ')}` }]
      : []),
    ...(previous !== undefined ? [{ reason: 'SwitchingTraffic', message: switching }] : []),
    ...(isShifting(wantedWeights, decisions)
      ? [{ reason: 'ShiftingTraffic', message: 'Traffic shifts to the weights of the spec as versions become ready' }]
      : []),
    ...(retiring.length > 0 ? [{ reason: 'Draining', message: `Retiring ${named(retiring)}` }] : []),
  ]
}

/** Pod counts only come close to the weights of the spec, so they are never waited for. */
function isShifting(wanted: Weights, decisions: Decisions): boolean {
  const { current, reported } = decisions.routing
  return !isSameSplit(reported, wanted) && !current.provider.splitPods && !problemOf(decisions)
}

function isMoving(decision: VersionDecision): boolean {
  return isRolling(decision.version) || availableOf(decision.version) < Math.max(decision.floor, desiredPods(decision))
}

function phaseOf(decisions: Decisions, serves: boolean, isHealthy: boolean): Phase {
  const isTroubled = decisions.versions.some((one) => one.version.wanted && one.trouble && !isStarting(one))
  if (serves) return isTroubled || !(isHealthy || isBusy(decisions)) ? 'Degraded' : 'Running'
  const weighted = wantedOf(decisions).filter(({ version }) => (version.wanted?.weight ?? 0) > 0)
  return weighted.every(({ trouble }) => trouble && !trouble.isWaiting) ? 'Failed' : 'Pending'
}

/** Pods that are starting are not unhealthy. */
function isBusy({ versions }: Decisions): boolean {
  return versions.some(
    (one) => one.isWritten && isMoving(one) && (isStarting(one) || availableOf(one.version) >= Math.min(1, one.floor)),
  )
}

/** It was never well, so it is not degraded, unless a person has to act. */
const isStarting = ({ version, trouble }: VersionDecision): boolean =>
  !hasBeenReady(version) && (!trouble || trouble.isWaiting === true)

/** Conditions that others wrote: they stay. */
export function othersConditions({ conditions = [] }: ServingStatus): Verdict[] {
  const ours: readonly string[] = [...conditionTypes, ...rolloutConditionTypes, 'Limited', METRICS, CONFLICT]
  return conditions
    .filter(({ type }) => !ours.includes(type))
    .map(({ lastTransitionTime: _stamped, ...verdict }) => verdict)
}
