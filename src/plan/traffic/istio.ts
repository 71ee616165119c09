/**
 * Istio: a VirtualService divides the requests for the model's Service between subsets of its pods, one per version,
 * which a DestinationRule tells apart by their label. Sidecars and the gateways named do the rest.
 */
import { serviceName, VERSION_LABEL } from '../model-names.ts'
import type { Rendered, TrafficObserved, TrafficProvider, TrafficTarget } from './contract.ts'
import { DestinationRule, destinationsOf, type HttpDestination, VirtualService } from './kinds.ts'
import { named, observedOf, podsOf, rendering } from './route-object.ts'

export const istioProvider: TrafficProvider = { name: 'istio', render, inEffect }

/** The gateway of Istio's that stands for all sidecars. */
const EVERY_SIDECAR = 'mesh'

function render(target: TrafficTarget): Rendered {
  return {
    apply: [destinationRule(target), virtualService(target)],
    annotate: [],
    selector: podsOf(target, 'server'),
    targetPort: target.port,
  }
}

function destinationRule(target: TrafficTarget): DestinationRule {
  const subsets = target.backends.map(({ version }) => ({ name: version, labels: { [VERSION_LABEL]: version } }))
  return {
    ...rendering(target, DestinationRule, routeName(target)),
    spec: { host: serviceName(named(target)), subsets },
  }
}

function virtualService(target: TrafficTarget): VirtualService {
  const { backends, gateways, hostnames, port } = target
  const host = serviceName(named(target))
  const route = backends
    .filter(({ weight }) => weight > 0)
    .map(({ version, weight }) => ({ destination: { host, subset: version, port: { number: port } }, weight }))
  return {
    ...rendering(target, VirtualService, routeName(target)),
    spec: {
      hosts: [host, ...(hostnames ?? [])],
      ...(gateways && { gateways: [EVERY_SIDECAR, ...gateways] }),
      http: [{ route }],
    },
  }
}

/**
 * Istio says nothing back unless told to, so what is stored counts; but a status that is behind is believed. A route that
 * somebody emptied leads anywhere.
 */
function inEffect(target: TrafficTarget, observed: TrafficObserved): ReadonlyMap<string, number> | undefined {
  const name = routeName(target)
  const service = observedOf(observed, VirtualService, name)
  const rule = observedOf(observed, DestinationRule, name)
  if (!service || !rule || isBehind(service)) return undefined
  const routes = destinationsOf(service)
  const subsets = new Set(rule.spec.subsets?.map((subset) => subset.name))
  const shares = routes.map((route) => [route.destination.subset ?? '', shareOf(route, routes)] as const)
  return shares.length > 0 && shares.every(([subset]) => subsets.has(subset)) ? new Map(shares) : undefined
}

/** Istio takes a single route without a weight for all of it. */
function shareOf({ weight = 0 }: HttpDestination, routes: readonly HttpDestination[]): number {
  return routes.length === 1 ? 100 : weight
}

function isBehind({ metadata, status }: VirtualService): boolean {
  const seen = status?.observedGeneration
  return seen !== undefined && Number(seen) < (metadata.generation ?? 0)
}

const routeName = ({ name }: TrafficTarget): string => `${name}-vs`
