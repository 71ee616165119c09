/**
 * How traffic is split between the versions of a model: one contract, one file (or folder) per provider. Everything that
 * is particular to a provider is declared here; the planner, gather, the caches and the RBAC rules know no provider.
 *
 * A provider is pure. It gets weights, answers with the objects that bring them about, and reads from what was observed
 * which weights are in effect. It never decides a weight.
 *
 * Contract (checked for every provider by test/contracts/traffic-provider.ts)
 * - The rendered weights sum to 100, each is between 0 and 100, and only versions of the target get any. A provider with
 *   `splitPods` comes as close as whole pods can.
 * - Rendering is deterministic: the same target gives deep-equal objects, so a converged model costs no write.
 * - `inEffect` answers only with what was observed of every replica or object that carries traffic. While any of them is
 *   unknown or still converging, the answer is `undefined`, and no version is retired.
 * - It renders only kinds that it declares, and Deployments, ConfigMaps and PodDisruptionBudgets.
 *
 * The planner, not the provider, ensures that a provider is removed only after the next one is in effect.
 */
import type { RouteRules, TrafficReport } from '../../api/router-report.ts'
import type { TrafficProviderName } from '../../api/serving-traffic.ts'
import type { KubeObject, Resource } from '../../kube/object.ts'
import type { PodUser } from '../pod/security-context.ts'
import type { Annotated } from '../../decision/plan.ts'
import type { Deployment, Pod, Service } from '../../kube/resources.ts'
import type { Named } from '../model-names.ts'
import type { VersionQueries } from './version-queries.ts'
import type { Weights } from './weights.ts'
import type { ImageUse } from '../image-use.ts'

export type ProviderName = TrafficProviderName

/** One version that may get traffic. */
export interface Backend {
  readonly version: string
  /** Name of the version's own Service. */
  readonly service: string
  /** Percent. */
  readonly weight: number
}

/** Part of the configuration that any provider may read. */
export interface AgentConfig {
  /** The operator's own image: its agent runs in proxies and before model servers. */
  readonly agentImage: string
}

/** Of the pods of models. A proxy has a user of its own, unless users are left to the cluster. */
export interface PodUserConfig {
  readonly user?: PodUser
}

/** A model and its weights. `Config` is what the provider reads of the operator's configuration. */
export interface TrafficTarget<Config = object> {
  readonly name: string
  readonly namespace: string
  /** On every rendered object. */
  readonly labels: Readonly<Record<string, string>>
  /** Port of the model's Service and of every version's Service. */
  readonly port: number
  /** Every version that has a Service, also those of weight 0. Weights sum to 100. */
  readonly backends: readonly Backend[]
  /** The version to send everything to, for a provider that cannot split. */
  readonly primary: string
  /** The weights of the spec, for all its versions. */
  readonly wanted: Weights
  /** The weights in the status. */
  readonly recorded: Weights
  readonly config: Config
  /** Copies, matches and stickiness; only versions of `backends` that can take requests. */
  readonly rules?: RouteRules
  /** Gateways that carry the route, and their host names. Absent: reachable inside the cluster only. */
  readonly gateways?: readonly string[]
  readonly hostnames?: readonly string[]
}

/** A Deployment of a provider that requests pass through. */
export interface Proxy {
  readonly deployment: Deployment
  /** Without terminating pods. */
  readonly pods: readonly Pod[]
}

/** What was observed of the model's traffic. */
export interface TrafficObserved {
  /** The model's Service, where requests enter. */
  readonly service?: Service
  /** Objects of the model of the kinds that providers declare. */
  readonly routes: readonly KubeObject[]
  readonly proxies: readonly Proxy[]
  /** Reports of proxy pods, by uid of the pod. A pod that did not answer is absent. */
  readonly reports: ReadonlyMap<string, TrafficReport>
  /** The Deployments of the versions. */
  readonly servers: readonly Deployment[]
  /** Pods that can take requests, by version. */
  readonly available: ReadonlyMap<string, number>
  /** Milliseconds of the epoch. */
  readonly now: number
}

export interface Rendered {
  /** Children of the model. */
  readonly apply: readonly KubeObject[]
  /** Annotations for pods that exist already: how a running proxy gets its weights. */
  readonly annotate: readonly Annotated[]
  /** Selector of the model's Service. Each pod that it selects has a port named `HTTP_PORT_NAME`. */
  readonly selector: Readonly<Record<string, string>>
}

/** A kind of another product. The cluster may not serve it. */
export interface ProviderKind {
  readonly resource: Resource
  /** Paths that others may set on our objects. Anything else that others add is removed. */
  readonly sharedFields?: readonly string[]
}

/** What a route can have beside weights. `headers` and `cookies`: of requests that go to a version. */
export type RuleKind = 'mirror' | 'headers' | 'cookies' | 'stickiness'

/** What `auto` decides by. */
export interface SplitRequest {
  /** Versions in the spec. */
  readonly versions: number
  /** More than one version gets traffic. */
  readonly isSplit: boolean
  readonly hasGateways: boolean
  /** A provider without one of these is not chosen. */
  readonly needs?: readonly RuleKind[]
}

/** Where requests enter, for a Service that was written before any status. */
export interface Entrance {
  readonly selector: Readonly<Record<string, string>>
  readonly routes: readonly KubeObject[]
}

/** A provider's target with what was observed of it. */
export interface Situation {
  readonly target: TrafficTarget
  readonly observed: TrafficObserved
  /** Undefined while it is unknown or converging. */
  readonly inEffect: Weights | undefined
}

export interface TrafficProvider {
  readonly name: ProviderName
  /** It is available while the cluster serves all of these. They are watched, and RBAC permits writing them. */
  readonly kinds: readonly ProviderKind[]
  /** Why RBAC permits writing `kinds`. */
  readonly permission?: string
  /** Its settings in the operator's configuration, with their defaults. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** What is wrong with its settings, beyond their types. */
  configProblem?(config: object): string | undefined
  /** How Prometheus knows the requests of a version, by its settings. Absent: its proxies report them. */
  queries?(config: object): VersionQueries
  /** The images of its pods beside the agent's, by its settings. */
  images?(config: object): ImageUse[]
  /**
   * Name of the Deployment that requests pass through, if the provider has one. Its pods answer with a `TrafficReport`:
   * their weights, and the request metrics of the status.
   */
  readonly proxyName?: (model: Named) => string
  /** It cannot be watched: observe it again after this time. */
  readonly pollMs?: number
  /** How many pods each version gets out of `total`, if pod counts split the traffic. */
  readonly splitPods?: (weights: Weights, total: number) => ReadonlyMap<string, number>
  /** The rules that it applies. It ignores others. */
  readonly rules?: readonly RuleKind[]
  /** Requests from `gateways` for `hostnames` reach the model. */
  readonly routesGateways?: true
  /** `auto` takes the first registered provider that is available and suits. */
  suits(request: SplitRequest): boolean
  /** The Service leads to this provider. At most one provider recognises a Service. */
  recognises(entrance: Entrance): boolean
  render(target: TrafficTarget, observed: TrafficObserved): Rendered
  /** The percent that each version gets now. */
  inEffect(target: TrafficTarget, observed: TrafficObserved): Weights | undefined
  /** Sends traffic to at least one version, even if by outdated weights. */
  canCarry(weights: Weights, situation: Situation): boolean
  /** It splits traffic as required, or needs only the Service switch. */
  canTakeOver(weights: Weights, situation: Situation): boolean
  /** Nothing is left to wait for. */
  isSettled(weights: Weights, situation: Situation): boolean
  /** Something can take requests, although what is in effect is unknown. */
  isRunning(situation: Situation): boolean
  /** The weights for the status. `weights` is undefined while no version is ready. */
  reported(weights: Weights | undefined, situation: Situation): Weights
}
