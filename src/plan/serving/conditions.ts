/**
 * The conditions of a model. Ready: it answers; Healthy: its pods are well; Scaled: it has the pods it should have, and
 * autoscalers can tell how many that are.
 */
import type { Verdict } from '../../api/conditions.ts'
import { isTrue } from '../../api/conditions.ts'
import type { ServingStatus } from '../../api/modeldeployment-parts.ts'
import type { Trouble } from '../pod-trouble.ts'
import { reasonWord } from '../reason-word.ts'
import type { Scene } from './scene.ts'
import { autoscalerTrouble } from './scale.ts'
import { isPodReady } from './trouble.ts'
import { sizeTold, type State, type VersionState } from './state.ts'
import { availableOf, isReady, isRolling } from './version.ts'
import { isSameDivision } from './weights.ts'

export type Phase = NonNullable<ServingStatus['phase']>

/** How the model stands, in the words of its status. */
export interface Standing {
  readonly phase: Phase
  readonly message: string
  readonly conditions: readonly Verdict[]
}

interface Finding {
  readonly holds: boolean
  readonly reason: string
  readonly message: string
}

/** The types that are ours to write. */
export const conditionTypes = ['Ready', 'Healthy', 'Scaled', 'Progressing'] as const

const HEALTHY_SHARE = 0.8

export function standingOf(scene: Scene, state: State): Standing {
  const findings: Readonly<Record<(typeof conditionTypes)[number], Finding>> = {
    Ready: readyOf(scene, state),
    Healthy: healthyOf(state),
    Scaled: scaledOf(scene, state),
    Progressing: progressOf(scene, state),
  }
  const phase = phaseOf(state, findings.Ready.holds, findings.Healthy.holds)
  const { generation } = scene.model.metadata
  const conditions = conditionTypes.map((type) => ({
    type,
    status: findings[type].holds ? ('True' as const) : ('False' as const),
    reason: reasonWord(findings[type].reason),
    message: findings[type].message.slice(0, MAX_MESSAGE),
    ...(generation !== undefined && { observedGeneration: generation }),
  }))
  const problem = problemOf(state)
  const message = problem?.message ?? (findings.Progressing.holds ? findings.Progressing : findings.Ready).message
  return { phase, message: message.slice(0, MAX_SENTENCE), conditions }
}

const MAX_MESSAGE = 4096
const MAX_SENTENCE = 1024

const wantedOf = ({ versions }: State): readonly VersionState[] => versions.filter(({ version }) => version.wanted)

/** The first trouble of a version that the spec has. */
export function problemOf(state: State): Trouble | undefined {
  const { unavailable } = state.routing
  const own = wantedOf(state).find(({ trouble }) => trouble)
  if (own?.trouble) return { ...own.trouble, message: `${own.version.name}: ${own.trouble.message}` }
  return unavailable === undefined ? undefined : { reason: 'ProviderUnavailable', message: unavailable }
}

/** Requests are answered: the way that the Service leads to sends them to a version that can take them. */
function readyOf(scene: Scene, state: State): Finding {
  const { way, told } = state.routing
  const serving = state.versions.filter(({ version }) => isReady(version) && (told.get(version.name) ?? 0) > 0)
  if (serving.length > 0) {
    if (isSeen(scene, state, serving))
      return { holds: true, reason: 'Serving', message: serving.map(account).join('; ') }
    return {
      holds: false,
      reason: 'RouteNotInEffect',
      message: `${way.name} does not send requests to the versions yet`,
    }
  }
  const problem = problemOf(state)
  if (problem) return { holds: false, ...problem }
  return {
    holds: false,
    reason: 'Starting',
    message: `waiting for a ready pod: ${wantedOf(state).map(account).join('; ')}`,
  }
}

/** A way that cannot be seen for a moment does not take back what was seen before, unless nobody is there at all. */
function isSeen({ known, observed }: Scene, { routing }: State, serving: readonly VersionState[]): boolean {
  const { way, told } = routing
  const isPlain = way.name === 'direct' || way.name === 'replicas' // The Service leads straight to pods that are ready.
  const seen = isPlain ? told : way.inEffect
  if (seen) return serving.some(({ version }) => (seen.get(version.name) ?? 0) > 0)
  const isThere = way.name !== 'router' || observed.traffic.routerPods.some(isPodReady)
  return isThere && isTrue(known.conditions, 'Ready')
}

/** `v1 serves with 2 of 3 pods` */
function account(state: VersionState): string {
  return `${state.version.name} has ${availableOf(state.version)} of ${sizeTold(state)} pods ready`
}

function healthyOf(state: State): Finding {
  const counted = state.versions.filter(({ retirement }) => !retirement.isOver)
  const all = counted.reduce((sum, one) => sum + sizeTold(one), 0)
  const healthy = counted.reduce((sum, { version }) => sum + availableOf(version), 0)
  const holds = all > 0 && healthy >= HEALTHY_SHARE * all
  const problem = problemOf(state)
  const message = `${healthy} of ${all} pods are healthy`
  return holds
    ? { holds, reason: 'PodsHealthy', message }
    : {
        holds,
        reason: problem?.reason ?? 'PodsUnhealthy',
        message: problem ? `${message}: ${problem.message}` : message,
      }
}

function scaledOf({ observed }: Scene, state: State): Finding {
  const short = wantedOf(state).filter((one) => availableOf(one.version) < one.floor)
  if (short.length > 0) {
    const message = short.map(
      (one) => `${one.version.name} has ${availableOf(one.version)} of at least ${one.floor} pods`,
    )
    return { holds: false, reason: problemOf(state)?.reason ?? 'TooFewPods', message: message.join('; ') }
  }
  const scaled = wantedOf(state).filter((one) => one.isAutoscaled)
  const blind = scaled.flatMap(({ version }) => autoscalerTrouble(version, observed.autoscalers) ?? [])
  if (blind.length > 0) return { holds: false, reason: 'AutoscalerInactive', message: blind.join('; ') }
  return { holds: true, reason: 'EnoughPods', message: 'every version has the pods it should have' }
}

/** True while something is under way that will end by itself. */
function progressOf(scene: Scene, state: State): Finding {
  const step = stepsOf(scene, state)[0]
  if (step) return { holds: true, ...step }
  const problem = problemOf(state)
  if (problem) return { holds: false, ...problem }
  return { holds: false, reason: 'Settled', message: 'all is as the spec says' }
}

function stepsOf({ model }: Scene, state: State): Trouble[] {
  const { routing, versions } = state
  const named = (found: readonly VersionState[]): string => found.map(({ version }) => version.name).join(', ')
  const validating = versions.filter(({ validation }) => validation?.outcome === 'running')
  const leaving = versions.filter(({ version }) => !version.wanted)
  const rolling = versions.filter((one) => one.isWritten && !one.trouble && isMoving(one))
  const wanted = new Map(model.versions.map(({ name, weight }) => [name, weight]))
  const isShifting = !isSameDivision(routing.told, wanted) && routing.way.name !== 'replicas' && !problemOf(state)
  const { previous } = routing.next
  const turned = `traffic moves from ${previous ?? ''} to ${routing.next.provider}`
  return [
    ...(validating.length > 0 ? [{ reason: 'Validating', message: `${named(validating)} is being validated` }] : []),
    ...(rolling.length > 0 ? [{ reason: 'RollingOut', message: rolling.map(account).join('; ') }] : []),
    ...(previous !== undefined ? [{ reason: 'SwitchingTraffic', message: turned }] : []),
    ...(isShifting
      ? [{ reason: 'ShiftingTraffic', message: 'traffic moves to what the spec says as versions get ready' }]
      : []),
    ...(leaving.length > 0 ? [{ reason: 'Draining', message: `${named(leaving)} is leaving` }] : []),
  ]
}

function isMoving(state: VersionState): boolean {
  return isRolling(state.version) || availableOf(state.version) < Math.max(state.floor, sizeTold(state))
}

function phaseOf(state: State, serves: boolean, isHealthy: boolean): Phase {
  const isTroubled = state.versions.some(({ version, trouble }) => version.wanted && trouble)
  if (serves) return isTroubled || !(isHealthy || isBusy(state)) ? 'Degraded' : 'Running'
  const weighted = wantedOf(state).filter(({ version }) => (version.wanted?.weight ?? 0) > 0)
  return weighted.every(({ trouble }) => trouble) ? 'Failed' : 'Pending'
}

/** Pods that are only just starting are not unhealthy. */
function isBusy({ versions }: State): boolean {
  return versions.some((one) => one.isWritten && isMoving(one) && availableOf(one.version) >= Math.min(1, one.floor))
}
