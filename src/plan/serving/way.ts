/**
 * The ways in which traffic can reach versions: four providers, and the Service of the model alone as long as one version
 * gets everything. All are asked through one face.
 */
import type { TrafficWay } from '../../api/modeldeployment-parts.ts'
import { nameWithKind } from '../../kube/object.ts'
import type { Rendered, TrafficObserved, TrafficTarget } from '../traffic/contract.ts'
import { providers } from '../traffic/providers.ts'
import { modelLabels, serverLabels, serviceName, VERSION_LABEL, versionedName } from '../model-names.ts'
import type { Scene } from './scene.ts'
import type { Version } from './version.ts'
import type { Weights } from './weights.ts'

export interface Way {
  readonly name: TrafficWay
  readonly rendered: Rendered
  /** The percent that each version gets on this way; unknown while some of it is still on its way. */
  readonly inEffect: Weights | undefined
}

export interface Division {
  /** Versions that have a Service, in order. */
  readonly versions: readonly Version[]
  /** Sum to 100. */
  readonly weights: Weights
  /** The version that the Service selects on the way `direct`. */
  readonly sole: string
}

export function wayOf(name: TrafficWay, scene: Scene, division: Division): Way {
  if (name === 'direct') return direct(scene, division.sole)
  const provider = providers[name]
  const target = targetOf(scene, division)
  const observed = trafficObserved(scene)
  const rendered = provider.render(target, observed)
  const isUnborn = name !== 'replicas' && !isPresent(scene.observed.traffic, rendered)
  return { name, rendered, inEffect: isUnborn ? new Map() : provider.inEffect(target, observed) }
}

function direct(scene: Scene, sole: string): Way {
  const { model } = scene
  const selected = serviceOf(scene)?.spec?.selector?.[VERSION_LABEL]
  return {
    name: 'direct',
    rendered: { apply: [], annotate: [], selector: serverLabels(model, sole), targetPort: model.server.port },
    inEffect: new Map(selected === undefined ? [] : [[selected, 100]]),
  }
}

/** The Service of the model, as it is now. */
export function serviceOf({ observed, model }: Scene) {
  return observed.services.find(({ metadata }) => metadata.name === serviceName(model))
}

/** What has never been written sends nothing to anybody. */
function isPresent({ routes, router, routerPods }: TrafficObserved, { apply }: Rendered): boolean {
  const there = new Set([...routes, ...(router ? [router] : [])].map(nameWithKind))
  return routerPods.length > 0 || apply.some((object) => there.has(nameWithKind(object)))
}

function targetOf({ model, observed }: Scene, { versions, weights }: Division): TrafficTarget {
  const { gateways, hostnames } = model.traffic
  return {
    name: model.metadata.name,
    namespace: model.metadata.namespace ?? '',
    labels: modelLabels(model),
    port: model.server.port,
    backends: versions.map(({ name }) => ({
      version: name,
      service: versionedName(model, name),
      weight: weights.get(name) ?? 0,
    })),
    config: observed.config,
    ...(gateways && { gateways }),
    ...(hostnames && { hostnames }),
  }
}

function trafficObserved({ observed, versions, now }: Scene): TrafficObserved {
  return { ...observed.traffic, now, servers: versions.flatMap(({ deployment }) => deployment ?? []) }
}
