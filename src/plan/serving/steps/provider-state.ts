/** A provider applied to one model: what it renders, and what was observed of it. */
import { nameWithKind } from '../../../kube/object.ts'
import { modelLabels, versionedName } from '../../model-names.ts'
import {
  missingKind,
  type Rendered,
  type Situation,
  type TrafficObserved,
  type TrafficProvider,
  type TrafficTarget,
  usableRules,
  type Weights,
} from '../../traffic/index.ts'
import { availableOf, type Version } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'

export interface ProviderState extends Situation {
  readonly provider: TrafficProvider
  readonly rendered: Rendered
  /** The cluster serves the kinds that it needs. Without them none of its objects can be written or read. */
  readonly isAvailable: boolean
}

export interface Split {
  /** Versions that have a Service, in order. */
  readonly versions: readonly Version[]
  /** Sum to 100. */
  readonly weights: Weights
  /** The version that gets everything from a provider that cannot split. */
  readonly primary: string
}

export function providerState(view: ModelView, provider: TrafficProvider, split: Split): ProviderState {
  const target = targetOf(view, split)
  const observed = trafficObserved(view)
  const rendered = provider.render(target, observed)
  const isAvailable = missingKind(provider, view.observed.servedKinds) === undefined
  const inEffect = isAvailable ? effectOf(provider, rendered, { target, observed }) : undefined
  return { provider, rendered, target, observed, inEffect, isAvailable }
}

/** The Service alone does not lead to the versions: objects of the provider do. */
export const needsRoute = ({ rendered }: ProviderState): boolean => rendered.apply.length > 0

/** A provider whose objects were never written sends no traffic. */
function effectOf(
  provider: TrafficProvider,
  rendered: Rendered,
  { target, observed }: Pick<Situation, 'target' | 'observed'>,
): Weights | undefined {
  const isAbsent = rendered.apply.length > 0 && !isPresent(observed, rendered)
  return isAbsent ? new Map() : provider.inEffect(target, observed)
}

/** Any of its objects exists, or any proxy still has pods. */
function isPresent({ routes, proxies }: TrafficObserved, { apply }: Rendered): boolean {
  const present = new Set([...routes, ...proxies.map(({ deployment }) => deployment)].map(nameWithKind))
  return proxies.some(({ pods }) => pods.length > 0) || apply.some((object) => present.has(nameWithKind(object)))
}

function targetOf(view: ModelView, { versions, weights, primary }: Split): TrafficTarget {
  const { model, observed, port, wantedWeights, recordedWeights } = view
  const { gateways, hostnames } = model.traffic
  const usable = new Set(versions.filter((version) => availableOf(version) > 0).map(({ name }) => name))
  return {
    name: model.metadata.name,
    namespace: model.metadata.namespace ?? '',
    labels: modelLabels(model, 'traffic'),
    port,
    backends: versions.map(({ name }) => ({
      version: name,
      service: versionedName(model, name),
      weight: weights.get(name) ?? 0,
    })),
    primary,
    wanted: wantedWeights,
    recorded: recordedWeights,
    config: observed.config,
    rules: usableRules(model.traffic, usable),
    ...(gateways && { gateways }),
    ...(hostnames && { hostnames }),
  }
}

function trafficObserved({ observed, versions, service, now }: ModelView): TrafficObserved {
  return {
    ...observed.traffic,
    ...(service && { service }),
    servers: versions.flatMap(({ deployment }) => deployment ?? []),
    available: new Map(versions.map((version) => [version.name, availableOf(version)])),
    now,
  }
}
