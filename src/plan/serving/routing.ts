/**
 * By which way traffic goes, and how one way follows another without losing a request: the new one is made beside the old
 * one; once it is in effect, that is written down, and the next plan turns the Service; once the Service is seen turned, that
 * is written down; and when requests under way have had time to end, the old one goes.
 */
import type { TrafficStatus, TrafficWay } from '../../api/modeldeployment-parts.ts'
import { sameJson } from '../../api/json.ts'
import { apportion } from '../traffic/apportion.ts'
import { millis, notBefore } from '../time.ts'
import { knownWeights, type Scene } from './scene.ts'
import { availableOf, isReady, type Version } from './version.ts'
import { type Division, serviceOf, type Way, wayOf } from './way.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../model-names.ts'
import { isSameDivision, soleOf, sum, type Weights, weightsOf } from './weights.ts'

export interface Routing {
  /** What all ways are told now. Nothing: nobody is ready, and everything stays as it is. */
  readonly weights?: Weights
  /** What the Service leads to. */
  readonly way: Way
  /** Everything that is to be there, `way` included. */
  readonly ways: readonly Way[]
  /** For the status, to be acted on by the next plan. */
  readonly next: TrafficStatus
  /** What each version gets by what `way` has been told: for the status. */
  readonly told: Weights
  /** A way that is on its way: look again soon. */
  readonly isSettling: boolean
  readonly drainEndsAt?: number
  /** What the spec asks for and the cluster does not have. */
  readonly unavailable?: string
}

/** `alive`: versions that have a Service, or are about to. */
export function routingOf(scene: Scene, alive: readonly Version[]): Routing {
  const weights = decided(scene, alive)
  const wanted = wantedWay(scene, weights ?? knownWeights(scene))
  const division = divisionOf(scene, alive, weights)
  const known = withoutLost(scene, carrying(scene, wanted.way), division, weights)
  const { way, ways, candidate } = waysOf(scene, known, { division, wanted: wanted.way, isHeld: weights === undefined })
  const isTurning = candidate !== undefined && weights !== undefined && isTaken(scene, candidate, weights)
  const isSettled = weights === undefined || ways.every((one) => isTold(one, weights))
  const draining = drainOf(scene, known)
  return {
    ...(weights && { weights }),
    way,
    ways,
    next: isTurning ? { provider: wanted.way, previous: known.provider } : stayed(scene, known, way),
    told: told(scene, way, weights),
    isSettling: !isSettled || candidate !== undefined,
    ...(draining && !draining.isOver && { drainEndsAt: draining.endsAt }),
    ...(wanted.unavailable !== undefined && { unavailable: wanted.unavailable }),
  }
}

interface Course {
  readonly division: Division
  readonly wanted: TrafficWay
  /** Nobody is ready: nothing new is begun. */
  readonly isHeld: boolean
}

/** What is there, what is still there, and what may take over. One change at a time, but a change may be taken back. */
function waysOf(scene: Scene, known: TrafficStatus, { division, wanted, isHeld }: Course) {
  const at = (name: TrafficWay): Way => wayOf(name, scene, division)
  const way = at(known.provider)
  const isDrained = drainOf(scene, known)?.isOver ?? false
  const previous = known.previous === undefined || isDrained ? [] : [at(known.previous)]
  const isWanted = wanted !== known.provider && !isHeld
  const coming = isWanted && known.previous === undefined ? [at(wanted)] : []
  const ways = [way, ...previous, ...coming]
  const candidate = isWanted ? ways.find(({ name }) => name === wanted) : undefined
  return { way, ways, ...(candidate && { candidate }) }
}

function decided(scene: Scene, alive: readonly Version[]): Weights | undefined {
  return weightsOf({
    wanted: new Map(scene.model.versions.map(({ name, weight }) => [name, weight])),
    ready: new Set(alive.filter(isReady).map(({ name }) => name)),
    current: knownWeights(scene),
  })
}

/** The way that the spec asks for, given how traffic is divided. */
function wantedWay(scene: Scene, weights: Weights): { readonly way: TrafficWay; readonly unavailable?: string } {
  const { provider } = scene.model.traffic
  if (provider === 'auto') return { way: bestWay(scene, weights) }
  if (isOffered(scene, provider)) return { way: provider }
  const kind = provider === 'istio' ? 'VirtualService' : 'HTTPRoute'
  const unavailable = `spec.traffic.provider: the cluster does not serve the kind ${kind}, so ${provider} cannot divide traffic: install it, or choose another provider`
  return { way: bestWay(scene, weights), unavailable }
}

function bestWay(scene: Scene, weights: Weights): TrafficWay {
  const { versions, traffic } = scene.model
  const isDivided = sum(weights) > 0 && soleOf(weights) === undefined
  if (versions.length === 1 && !isDivided && !traffic.gateways) return 'direct'
  if (isOffered(scene, 'istio')) return 'istio'
  return traffic.gateways && isOffered(scene, 'gateway') ? 'gateway' : 'router'
}

function isOffered({ observed: { offers } }: Scene, way: TrafficWay): boolean {
  return way === 'istio' || way === 'gateway' ? offers[way] : true
}

/** What the status says of the way, without anything that the cluster no longer has. */
function carrying(scene: Scene, wanted: TrafficWay): TrafficStatus {
  const { provider = enteredWay(scene, wanted), previous, since } = scene.known.traffic ?? {}
  if (!isOffered(scene, provider)) return { provider: wanted }
  if (previous === undefined || !isOffered(scene, previous)) return { provider }
  return { provider, previous, ...(since !== undefined && { since }) }
}

/** Somebody gets requests on it, be it by the weights of a moment ago. */
function canCarry({ name, inEffect }: Way, weights: Weights): boolean {
  if (name === 'direct') return soleOf(weights) !== undefined
  return name === 'replicas' || (inEffect !== undefined && sum(inEffect) > 0)
}

/** A Service that was written when the status was not tells by itself where it leads. */
function enteredWay(scene: Scene, wanted: TrafficWay): TrafficWay {
  const selector = serviceOf(scene)?.spec?.selector
  if (!selector) return wanted
  if (selector[VERSION_LABEL] !== undefined) return 'direct'
  if (selector[ROLE_LABEL] === 'router') return 'router'
  const has = (kind: string): boolean => scene.observed.traffic.routes.some((route) => route.kind === kind)
  if (has('VirtualService')) return 'istio'
  if (has('HTTPRoute')) return 'gateway'
  return wanted === 'router' ? 'direct' : wanted
}

/** A way that was lost before the Service was turned to it is not turned to: the one before goes on, and all begins anew. */
function withoutLost(
  scene: Scene,
  known: TrafficStatus,
  division: Division,
  weights: Weights | undefined,
): TrafficStatus {
  if (!weights || known.previous === undefined || known.since !== undefined) return known
  const way = wayOf(known.provider, scene, division)
  const isLost = !isEntered(scene, way) && !canCarry(way, weights)
  return isLost ? { provider: known.previous } : known
}

function drainOf({ now, drainMs }: Scene, { previous, since }: TrafficStatus) {
  const began = millis(since)
  if (previous === undefined || began === undefined) return undefined
  return { endsAt: began + drainMs, isOver: now >= began + drainMs }
}

function stayed(scene: Scene, known: TrafficStatus, way: Way): TrafficStatus {
  if (known.previous === undefined || drainOf(scene, known)?.isOver) return { provider: known.provider }
  if (known.since !== undefined || !isEntered(scene, way)) return known
  return { ...known, since: notBefore(scene.now) }
}

/** The Service has been seen to lead to this way. */
function isEntered(scene: Scene, { rendered }: Way): boolean {
  return sameJson(serviceOf(scene)?.spec?.selector, rendered.selector)
}

/** A way can take over: it divides traffic as it should, or needs only the Service to be turned. */
function isTaken(scene: Scene, way: Way, weights: Weights): boolean {
  if (way.name === 'direct') return soleOf(weights) !== undefined
  if (way.name === 'replicas') return way.inEffect !== undefined && scene.model.versions.every(hasItsPods(scene))
  return way.inEffect !== undefined && isSameDivision(way.inEffect, weights)
}

const hasItsPods =
  ({ versions }: Scene) =>
  ({ name, weight }: { readonly name: string; readonly weight: number }): boolean =>
    weight === 0 || versions.some((version) => version.name === name && isReady(version))

/** What is turned by the Service or by numbers of pods is seen to elsewhere. */
function isTold({ name, inEffect }: Way, weights: Weights): boolean {
  return name === 'direct' || name === 'replicas' || (inEffect !== undefined && isSameDivision(inEffect, weights))
}

function divisionOf(scene: Scene, versions: readonly Version[], weights: Weights | undefined): Division {
  const sole = (weights && soleOf(weights)) ?? selectedVersion(scene) ?? largestOf(weights ?? knownWeights(scene))
  const one = sole ?? scene.model.versions[0]?.name ?? ''
  return { versions, weights: weights ?? new Map([[one, 100]]), sole: one }
}

/** The version that the Service leads to, as long as it can take requests. */
function selectedVersion(scene: Scene): string | undefined {
  const selected = serviceOf(scene)?.spec?.selector?.[VERSION_LABEL]
  return scene.versions.some((version) => version.name === selected && isReady(version)) ? selected : undefined
}

function largestOf(weights: Weights): string | undefined {
  const [largest] = [...weights].toSorted(([, one], [, other]) => other - one)
  return largest?.[0]
}

function told(scene: Scene, way: Way, weights: Weights | undefined): Weights {
  if (way.name === 'replicas') {
    const pods = apportion(new Map(scene.versions.map((version) => [version.name, availableOf(version)])), 100)
    return sum(pods) > 0 ? pods : knownWeights(scene)
  }
  if (!weights) return knownWeights(scene)
  const sole = way.name === 'direct' ? way.rendered.selector[VERSION_LABEL] : undefined
  return sole === undefined ? weights : new Map([[sole, 100]])
}
