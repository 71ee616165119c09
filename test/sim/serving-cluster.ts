/**
 * A simulated cluster with one ModelDeployment. Plays the controllers of Deployments, autoscalers, routers and gateways, each
 * with any delay.
 */
import { withDefaults } from '../../src/api/defaults.ts'
import { sameJson } from '../../src/api/json.ts'
import { type ModelDeployment, type ModelDeploymentSpec, modelDeploymentV1 } from '../../src/api/modeldeployment.v1.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'
import { entriesOf, ROUTE_ANNOTATION, type RouteEntry } from '../../src/api/router-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment, HorizontalPodAutoscaler, Job, Service } from '../../src/kube/resources.ts'
import type { Plan } from '../../src/decision/plan.ts'
import { VERSION_LABEL } from '../../src/plan/model-names.ts'
import { defaultServingConfig, type PlannedServingStatus, type ServingObserved } from '../../src/plan/serving/index.ts'
import { kindName, type ProviderKind, type ProviderRegistry, providers } from '../../src/plan/traffic/index.ts'
import type { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { applied, isRescaled, textOf, withReplicas } from './server-side-apply.ts'
import { endpointsOf } from './endpoints.ts'
import { type Behaviour, follow, newRouterPod, reportOf, type RouterPod, serve, WELL } from './router-pod.ts'
import { SimulatedCluster } from './simulated-cluster.ts'
import { SimulatedDevices } from './device-nodes.ts'
import { timestamp } from '../../src/plan/time.ts'

export const MODEL_UID = 'uid-of-model'

/** As the API server returns it. */
export function modelDeployment(spec: object = {}, name = 'iris'): ModelDeployment {
  const minimal = { modelName: 'iris', framework: 'sklearn', image: 'iris:1', versions: [version('v1', 100)] }
  return {
    apiVersion: 'ml.example.com/v1',
    kind: 'ModelDeployment',
    metadata: { name, namespace: 'team-a', uid: MODEL_UID, generation: 1, resourceVersion: '1' },
    spec: withDefaults<object>(modelDeploymentV1.spec, { ...minimal, ...spec }) as ModelDeploymentSpec,
  }
}

export const version = (name: string, weight: number, more: object = {}) => ({
  name,
  weight,
  modelPath: `/models/${name}`,
  ...more,
})

/** The actual pods of a Deployment, whatever its status reports. */
interface Workload {
  pods: number
  ready: number
}

export type Write =
  | { readonly verb: 'apply'; readonly object: KubeObject; readonly before?: KubeObject }
  | { readonly verb: 'delete'; readonly object: KubeObject }
  | { readonly verb: 'annotate'; readonly route: readonly RouteEntry[] }
  | { readonly verb: 'status'; readonly before: ModelDeployment['status'] }

export type Planner = (observed: ServingObserved) => Plan<PlannedServingStatus>
/** Names of the providers whose kinds the cluster serves. */
export type Offers = readonly string[]
export type AfterWrite = (cluster: ServingCluster, write: Write) => void

export interface ClusterOptions {
  readonly spec?: object
  readonly offers?: Offers
  readonly registry?: ProviderRegistry
}

export class ServingCluster extends SimulatedCluster<PlannedServingStatus, Write> {
  model: ModelDeployment
  offers: Offers
  /** The ModelServer that `spec.runtime` names. */
  server: ModelServer | undefined
  readonly objects = new Map<string, KubeObject>()
  readonly workloads = new Map<string, Workload>()
  routers: RouterPod[] = []
  readonly gpus = new SimulatedDevices()
  /** How versions answer, if not well. */
  readonly behaviours = new Map<string, Behaviour>()
  readonly #intents = new Map<string, KubeObject>()
  readonly #texts = new Map<string, string>()
  readonly #plan: Planner
  readonly #afterWrite: AfterWrite
  readonly #providers: ProviderRegistry
  #uids = 0

  constructor(
    plan: Planner,
    afterWrite: AfterWrite,
    { spec = {}, offers = [], registry = providers }: ClusterOptions = {},
  ) {
    super()
    this.model = modelDeployment(spec)
    this.offers = offers
    this.#providers = registry
    this.#plan = plan
    this.#afterWrite = afterWrite
  }

  of<T extends KubeObject>(...kinds: readonly string[]): T[] {
    return [...this.objects.values()].filter(({ kind }) => kinds.includes(kind)) as T[]
  }

  get deployments(): Deployment[] {
    return this.of<Deployment>('Deployment')
  }

  /** Deployments of versions, by version. */
  get servers(): Map<string, Deployment> {
    return new Map(
      this.deployments.flatMap((deployment) => {
        const name = deployment.metadata.labels?.[VERSION_LABEL]
        return name === undefined ? [] : [[name, deployment]]
      }),
    )
  }

  get service(): Service | undefined {
    return this.objects.get(`Service/${this.model.metadata.name}-service`)
  }

  get observed(): ServingObserved {
    const { model, now, deployments, server } = this
    const served = this.#kinds((name) => this.offers.includes(name))
    const router = deployments.find(({ metadata }) => metadata.name.endsWith('-router'))
    const routerPods = this.routers.map(({ pod }) => pod)
    const answering = this.routers.filter(({ mute }) => !mute)
    return {
      model,
      now,
      servedKinds: new Set(served.map(({ resource }) => kindName(resource))),
      ...(server && { server }),
      deployments,
      services: this.of('Service'),
      endpoints: endpointsOf(this),
      autoscalers: this.of('HorizontalPodAutoscaler'),
      budgets: this.of('PodDisruptionBudget'),
      configMaps: this.of('ConfigMap'),
      claims: this.of('PersistentVolumeClaim'),
      jobs: this.of('Job'),
      ...this.gpus.observed(this, routerPods),
      traffic: {
        routes: this.of(...served.map(({ resource }) => resource.kind)),
        proxies: router ? [{ deployment: router, pods: routerPods }] : [],
        reports: new Map(answering.map((one) => [one.pod.metadata.uid ?? '', reportOf(one)])),
      },
      leftovers: [],
      config: defaultServingConfig,
    }
  }

  /** Kinds of the matching providers. */
  #kinds(isMatching: (name: string) => boolean): readonly ProviderKind[] {
    return this.#providers.all.filter(({ name }) => isMatching(name)).flatMap(({ kinds }) => kinds)
  }

  /** The cluster serves the kind of an object: one of no provider, or of a provider that it offers. */
  isServed({ kind }: KubeObject): boolean {
    const missing = this.#kinds((name) => !this.offers.includes(name))
    return !missing.some(({ resource }) => resource.kind === kind)
  }

  override pass(survives?: number): Plan<PlannedServingStatus> {
    return super.pass(survives) as Plan<PlannedServingStatus>
  }

  protected override plan(): Plan<PlannedServingStatus> {
    return this.#plan(this.observed)
  }

  protected override afterWrite(write: Write): void {
    this.#afterWrite(this, write)
  }

  protected override get stored(): ModelDeployment {
    return this.model
  }

  protected override set stored(model: KubeObject) {
    this.model = model as ModelDeployment
  }

  protected override get statusWrite(): Write {
    return { verb: 'status', before: this.model.status }
  }

  protected override prune(object: KubeObject): void {
    this.write({ verb: 'delete', object }, () => this.#delete(object))
  }

  /** It is there until its pods are gone. */
  protected override pruneInForeground(object: KubeObject): void {
    const metadata = { ...object.metadata, deletionTimestamp: timestamp(this.now) }
    this.write({ verb: 'delete', object }, () => this.objects.set(keyOf(object), { ...object, metadata }))
  }

  #delete(object: KubeObject): void {
    const key = keyOf(object)
    this.objects.delete(key)
    this.#intents.delete(key)
    this.workloads.delete(key)
    if (key === `Deployment/${this.model.metadata.name}-router`) this.routers = []
  }

  /** Server-side apply: a field that only the operator owned and no longer sets is gone. */
  protected override apply(intent: KubeObject): void {
    const key = keyOf(intent)
    const text = textOf(intent)
    const before = this.objects.get(key)
    if (this.#texts.get(key) === text && before && !isRescaled(intent, before)) return
    const object = applied(intent, before, this.#intents.get(key), `uid-${(this.#uids += 1)}`)
    this.write({ verb: 'apply', object, ...(before && { before }) }, () => {
      this.objects.set(key, object)
      this.#intents.set(key, intent)
      this.#texts.set(key, text)
    })
  }

  protected override annotate(object: KubeObject, annotations: Readonly<Record<string, string>>): void {
    const router = this.routers.find(({ pod }) => pod.metadata.uid === object.metadata.uid)
    if (!router || router.pod.metadata.annotations?.[ROUTE_ANNOTATION] === annotations[ROUTE_ANNOTATION]) return
    const route = entriesOf(annotations[ROUTE_ANNOTATION] ?? '[]')
    this.write({ verb: 'annotate', route }, () => {
      router.pod = { ...router.pod, metadata: { ...router.pod.metadata, annotations } }
    })
  }

  /** A user changes the spec. */
  edit(spec: object): void {
    const { metadata } = this.model
    const next = modelDeployment({ ...this.model.spec, ...spec })
    if (sameJson(next.spec, this.model.spec) || !isAdmitted(next.spec)) return
    this.model = {
      ...this.model,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: next.spec,
    }
  }

  /** Autoscalers lift to their minimum, Deployments make their pods, and a router has as many as it should. */
  control(): void {
    for (const autoscaler of this.of<HorizontalPodAutoscaler>('HorizontalPodAutoscaler')) this.#autoscale(autoscaler)
    for (const deployment of this.deployments)
      if (deployment.metadata.deletionTimestamp === undefined) this.#controlDeployment(deployment)
      else this.#delete(deployment)
  }

  /** Autoscalers find another number of pods, as far as they may. */
  scale(chosen: number): void {
    for (const { spec } of this.of<HorizontalPodAutoscaler>('HorizontalPodAutoscaler')) {
      const { minReplicas = 1, maxReplicas = 1, scaleTargetRef } = spec ?? {}
      const key = `Deployment/${scaleTargetRef?.name ?? ''}`
      const target: Deployment | undefined = this.objects.get(key)
      const replicas = Math.min(maxReplicas, Math.max(minReplicas, chosen))
      if (target && target.spec?.replicas !== replicas) this.objects.set(key, withReplicas(target, replicas))
    }
  }

  #autoscale({ spec }: HorizontalPodAutoscaler): void {
    const { minReplicas = 1, maxReplicas = 1, scaleTargetRef } = spec ?? {}
    const key = `Deployment/${scaleTargetRef?.name ?? ''}`
    const target: Deployment | undefined = this.objects.get(key)
    const replicas = target?.spec?.replicas ?? 1
    const bounded = Math.min(maxReplicas, Math.max(minReplicas, replicas))
    if (target && replicas > 0 && bounded !== replicas) this.objects.set(key, withReplicas(target, bounded))
  }

  #controlDeployment(deployment: Deployment): void {
    const key = keyOf(deployment)
    const replicas = deployment.spec?.replicas ?? 1
    const workload = this.workloads.get(key) ?? { pods: 0, ready: 0 }
    this.workloads.set(key, { pods: replicas, ready: Math.min(workload.ready, replicas) })
    if (!deployment.metadata.name.endsWith('-router')) return
    while (this.routers.length < replicas)
      this.routers.push(newRouterPod(`router-${(this.#uids += 1)}`, MODEL_UID, this.now))
  }

  /** The status of its Deployment is updated. */
  report(name: string): void {
    const deployment = this.servers.get(name)
    const workload = deployment && this.workloads.get(keyOf(deployment))
    if (!deployment || !workload) return
    const status = {
      replicas: workload.pods,
      updatedReplicas: workload.pods,
      availableReplicas: workload.ready,
      observedGeneration: deployment.metadata.generation ?? 0,
    }
    this.objects.set(keyOf(deployment), { ...deployment, status } as Deployment)
  }

  /** How many pods of a version can actually answer. */
  change(name: string, ready: (workload: Workload) => number): void {
    const deployment = this.servers.get(name)
    const workload = deployment && this.workloads.get(keyOf(deployment))
    if (workload) workload.ready = Math.max(0, Math.min(workload.pods, ready(workload)))
  }

  /** Clients send requests: a hundred through each router that has a route. */
  request(): void {
    for (const router of this.routers) serve(router, (name) => this.behaviours.get(name) ?? WELL)
  }

  /** A user annotates the model. */
  note(annotations: Readonly<Record<string, string>>): void {
    const { metadata } = this.model
    this.model = {
      ...this.model,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    }
  }

  /** The agent follows its annotation, or the initial route of the ConfigMap. */
  steer(router: RouterPod): void {
    const initial = this.objects.get(`ConfigMap/${this.model.metadata.name}-router`) as
      | { readonly data?: Readonly<Record<string, string>> }
      | undefined
    follow(router, initial?.data?.['route.json'])
  }

  /** All router pods are lost at once, with their node; others start. */
  loseRouters(): void {
    this.routers = []
    this.control()
  }

  /** A router pod is lost; the Deployment makes another. */
  lose(router: RouterPod): void {
    this.routers = this.routers.filter((other) => other !== router)
    this.control()
  }

  /** Gateways accept the stored routes. */
  accept(): void {
    for (const route of this.of<HTTPRoute>('HTTPRoute')) {
      const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
        type,
        status: 'True',
        observedGeneration: route.metadata.generation ?? 0,
      }))
      const parents = (route.spec.parentRefs ?? []).map((parentRef) => ({ parentRef, conditions }))
      const taken: HTTPRoute = { ...route, status: { parents } }
      this.objects.set(keyOf(route), taken)
    }
  }

  /** CRDs come or go. With a CRD go its objects. */
  offer(offers: Offers): void {
    this.offers = offers
    const gone = this.#kinds((name) => !offers.includes(name))
    for (const object of this.of(...gone.map(({ resource }) => resource.kind))) this.#delete(object)
  }

  /** For a moment the API server denies all optional kinds, although their objects are still there. */
  denyOffers(act: () => void): void {
    const { offers } = this
    this.offers = []
    act()
    this.offers = offers
  }

  /** Validation Jobs finish. */
  judge(verdict: 'Complete' | 'Failed'): void {
    for (const job of this.of<Job>('Job')) {
      if (job.status?.conditions) continue
      const status = { conditions: [{ type: verdict, status: 'True' }] }
      this.objects.set(keyOf(job), { ...job, status } as Job)
    }
  }
}

/** Not refused by a rule of the API. */
export const isAdmitted = ({ rollout, traffic }: Pick<ModelDeploymentSpec, 'rollout' | 'traffic'>): boolean =>
  rollout?.strategy !== 'blueGreen' || traffic.provider !== 'replicas'

export const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`
