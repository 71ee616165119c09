/**
 * Chooses the traffic provider and switches between providers without dropping requests.
 *
 * 1. Create the new provider beside the old one.
 * 2. When it is in effect, record it in status, with the old one as `previous`.
 * 3. Switch the Service. Only the plan after the record does so, and a crash between the two repeats nothing.
 * 4. When the switch is observed, record the time and start draining.
 * 5. After the drain period, delete the old provider.
 *
 * A provider that is lost between 2 and 3 is not switched to: the previous one stays, and the switch starts over. One switch
 * runs at a time, but it may be reversed while it drains.
 */
import { sameJson } from '../../../api/json.ts'
import type { TrafficStatus } from '../../../api/serving-status.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { millis, notBefore } from '../../time.ts'
import { type ProviderName, soleOf, type TrafficProvider, type Weights } from '../../traffic/index.ts'
import { isReady, type Version } from '../observe/version.ts'
import { type ModelView, selectedVersion } from '../observe/view.ts'
import { isClearing } from '../rollout/strategy.ts'
import { chosenProvider, recordedProvider } from './provider-choice.ts'
import { type ProviderState, providerState, type Split } from './provider-state.ts'
import { weightsOf } from './weights.ts'

export interface Routing {
  /** Weights for every active provider. Undefined while no version is ready: routes stay unchanged. */
  readonly weights?: Weights
  /** The provider that the Service leads to. */
  readonly current: ProviderState
  /** Every provider whose objects exist or are created, `current` included. */
  readonly active: readonly ProviderState[]
  /** `status.traffic`. The next plan acts on it. */
  readonly next: TrafficStatus
  /** The weights for the status. */
  readonly reported: Weights
  /** A provider is still converging: requeue soon. */
  readonly isSettling: boolean
  readonly drainEndsAt?: number
  /** The spec asks for what the cluster does not have, or the administrator does not allow. */
  readonly unavailable?: Trouble
}

/** `alive`: versions that have a Service, or are about to get one. */
export function route(view: ModelView, alive: readonly Version[]): Routing {
  const weights = decidedWeights(view, alive)
  const chosen = chosenProvider(view, weights ?? view.recordedWeights)
  const split = splitOf(view, alive, weights)
  const recorded = withoutLost(view, recordedProvider(view, chosen.provider), split, weights)
  const { current, active, candidate } = activeProviders(view, recorded, {
    split,
    chosen: chosen.provider,
    isHeld: weights === undefined,
  })
  const isSwitching =
    candidate !== undefined && weights !== undefined && candidate.provider.canTakeOver(weights, candidate)
  const isSettled = weights === undefined || active.every((state) => isConverged(state, weights))
  const drain = drainOf(view, recorded)
  const unavailable = chosen.unavailable ?? exposureTrouble(view)
  return {
    ...(weights && { weights }),
    current,
    active,
    next: isSwitching
      ? { provider: chosen.provider.name, previous: recorded.provider }
      : continued(view, recorded, current),
    reported: current.provider.reported(weights, current),
    isSettling: !isSettled || candidate !== undefined,
    ...(drain && !drain.isOver && { drainEndsAt: drain.endsAt }),
    ...(unavailable && { unavailable }),
  }
}

function decidedWeights(view: ModelView, alive: readonly Version[]): Weights | undefined {
  const ready = new Set(alive.filter(isReady).map(({ name }) => name))
  return weightsOf({ wanted: view.wantedWeights, ready, current: keptShares(view) })
}

/** A version that failed takes over from no other, whatever happens to that one. Nor does one that is being removed. */
function keptShares({ wantedWeights, recordedWeights, recorded: { rollout }, travel }: ModelView): Weights {
  const isLeaving = travel !== undefined && isClearing(travel)
  if (!isLeaving && rollout?.phase !== 'RolledBack' && rollout?.phase !== 'Aborted') return recordedWeights
  return new Map([...recordedWeights].filter(([name]) => (wantedWeights.get(name) ?? 0) > 0))
}

function splitOf(view: ModelView, versions: readonly Version[], weights: Weights | undefined): Split {
  const sole = (weights && soleOf(weights)) ?? readySelection(view) ?? largestOf(weights ?? view.recordedWeights)
  const primary = sole ?? view.model.versions[0]?.name ?? ''
  return { versions, weights: weights ?? new Map([[primary, 100]]), primary }
}

/** The version that the Service selects, as long as it can take requests. */
function readySelection(view: ModelView): string | undefined {
  const selected = selectedVersion(view)
  return view.versions.some((version) => version.name === selected && isReady(version)) ? selected : undefined
}

function largestOf(weights: Weights): string | undefined {
  const [largest] = [...weights].toSorted(([, one], [, other]) => other - one)
  return largest?.[0]
}

/** A provider that was lost before the Service was switched to it is not switched to. */
function withoutLost(
  view: ModelView,
  recorded: TrafficStatus,
  split: Split,
  weights: Weights | undefined,
): TrafficStatus {
  if (!weights || recorded.previous === undefined || recorded.since !== undefined) return recorded
  const state = providerState(view, view.providers.of(recorded.provider), split)
  const isLost = !isEntered(view, state) && !state.provider.canCarry(weights, state)
  return isLost ? { provider: recorded.previous } : recorded
}

interface Course {
  readonly split: Split
  readonly chosen: TrafficProvider
  /** No version is ready: no switch begins. */
  readonly isHeld: boolean
}

/** The current provider, the previous one while it drains, and the candidate to switch to. */
function activeProviders(view: ModelView, recorded: TrafficStatus, { split, chosen, isHeld }: Course) {
  const stateOf = (name: ProviderName): ProviderState => providerState(view, view.providers.of(name), split)
  const current = stateOf(recorded.provider)
  const isDrained = drainOf(view, recorded)?.isOver ?? false
  const previous = recorded.previous === undefined || isDrained ? [] : [stateOf(recorded.previous)]
  const isOther = chosen.name !== recorded.provider && !isHeld
  const coming = isOther && recorded.previous === undefined ? [stateOf(chosen.name)] : []
  const active = [current, ...previous, ...coming]
  const candidate = isOther ? active.find(({ provider }) => provider.name === chosen.name) : undefined
  return { current, active, ...(candidate && { candidate }) }
}

function drainOf({ now, drainMs }: ModelView, { previous, since }: TrafficStatus) {
  const began = millis(since)
  if (previous === undefined || began === undefined) return undefined
  return { endsAt: began + drainMs, isOver: now >= began + drainMs }
}

/** No new switch: the one on record is continued, or ends. */
function continued(view: ModelView, recorded: TrafficStatus, current: ProviderState): TrafficStatus {
  if (recorded.previous === undefined || drainOf(view, recorded)?.isOver) return { provider: recorded.provider }
  if (recorded.since !== undefined || !isEntered(view, current)) return recorded
  return { ...recorded, since: notBefore(view.now) }
}

/** The Service was observed to lead to this provider. */
function isEntered({ service }: ModelView, { rendered }: ProviderState): boolean {
  return sameJson(service?.spec?.selector, rendered.selector)
}

/** Nothing can be asked of a provider that is not available. */
function isConverged(state: ProviderState, weights: Weights): boolean {
  return !state.isAvailable || state.provider.isSettled(weights, state)
}

function exposureTrouble({ exposureProblem }: ModelView): Trouble | undefined {
  if (!exposureProblem) return undefined
  const { isGateway, message } = exposureProblem
  return { reason: isGateway ? 'GatewayNotAllowed' : 'HostnameNotAllowed', message }
}
