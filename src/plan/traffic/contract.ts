/**
 * How traffic is divided between the versions of a model: one contract, four providers. A provider is a pure renderer:
 * it is told the weights, answers with the objects that bring them about, and reads off what was observed which weights
 * are in effect. It never decides a weight.
 *
 * Contract (checked for every provider by one suite)
 * - The weights rendered sum to 100, each is between 0 and 100, and only versions of the target get any (`replicas` comes
 *   as near as whole pods can: what it renders is nothing but the selector, see `splitReplicas`).
 * - Rendering is deterministic: the same target gives deep-equal objects, so a converged model costs no write.
 * - `inEffect` answers only with what was observed of every replica or object that carries traffic; while any of them
 *   is unknown or still on the way, the answer is `undefined`, and nobody is scaled down.
 * - Nothing of a provider that is being left is pruned before the next one is in effect (the planner sees to the order,
 *   by means of `inEffect` of both).
 */
import type { RouterReport } from '../../api/router-report.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Annotated } from '../../kube/plan.ts'
import type { Deployment, Pod } from '../../kube/resources.ts'
import type { TrafficConfig } from './config.ts'

export type ProviderName = 'istio' | 'gateway' | 'router' | 'replicas'

/** One version that may get traffic. */
export interface Backend {
  readonly version: string
  /** Name of the version's own Service. */
  readonly service: string
  /** Percent. */
  readonly weight: number
}

/** A model with its weights, as a provider is told them. */
export interface TrafficTarget {
  readonly name: string
  readonly namespace: string
  /** On every object that is rendered. */
  readonly labels: Readonly<Record<string, string>>
  /** Port of the model's Service and of every version's Service. */
  readonly port: number
  /** Every version that has a Service, also those of weight 0. Weights sum to 100. */
  readonly backends: readonly Backend[]
  readonly config: TrafficConfig
  /** For gateway and istio: which Gateways carry the route, and for which host names; inside the cluster only if absent. */
  readonly gateways?: readonly string[]
  readonly hostnames?: readonly string[]
}

/** What was seen of a provider's work. */
export interface TrafficObserved {
  /** Objects of the provider that belong to the model: VirtualService, DestinationRule, HTTPRoute. */
  readonly routes: readonly KubeObject[]
  /** The Deployments of the versions: what divides the traffic when their numbers of pods do. */
  readonly servers?: readonly Deployment[]
  /** The router's Deployment, and its pods that are not going away. */
  readonly router?: Deployment
  readonly routerPods: readonly Pod[]
  /** What the router pods say, by uid of the pod; a pod that did not answer is not in it. */
  readonly reports: ReadonlyMap<string, RouterReport>
  /** When all this was seen, in milliseconds of the epoch. */
  readonly now?: number
}

export interface Rendered {
  /** Children of the model. */
  readonly apply: readonly KubeObject[]
  /** Annotations for pods that are there already: how a running router learns its weights. */
  readonly annotate: readonly Annotated[]
  /** What the pods behind the model's Service `{name}-service` are labelled with, and the port they listen on. */
  readonly selector: Readonly<Record<string, string>>
  readonly targetPort: number
}

export interface TrafficProvider {
  readonly name: ProviderName
  render(target: TrafficTarget, observed: TrafficObserved): Rendered
  /** The percent that each version gets now; versions that get nothing are absent or 0. */
  inEffect(target: TrafficTarget, observed: TrafficObserved): ReadonlyMap<string, number> | undefined
}
