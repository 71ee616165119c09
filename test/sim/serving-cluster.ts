/**
 * A cluster with one model, small enough to be played through thousands of times. It carries plans out in the order and with
 * the guarantees of the runtime's commit, may die after any write, and moves Deployments, autoscalers, routers and
 * gateways as their controllers would, each with whatever delay. Every write is put before the oracles.
 */
import { withDefaults } from '../../src/api/defaults.ts'
import { sameJson } from '../../src/api/json.ts'
import { type ModelDeployment, type ModelDeploymentSpec, modelDeploymentV1 } from '../../src/api/modeldeployment.v1.ts'
import { ROUTE_ANNOTATION, type RouteEntry, type RouterReport } from '../../src/api/router-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment, HorizontalPodAutoscaler, Job, Pod, Service } from '../../src/kube/resources.ts'
import type { Plan } from '../../src/plan/plan.ts'
import { defaultServingConfig } from '../../src/plan/serving/config.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import type { Offers, ServingObserved } from '../../src/plan/serving/observed.ts'
import type { PlannedServingStatus } from '../../src/plan/serving/status.ts'
import type { HTTPRoute } from '../../src/plan/traffic/kinds.ts'

export const MODEL_UID = 'uid-of-model'
const START = Date.parse('2026-01-01T00:00:00Z')

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

/** What really is behind a Deployment, whatever has been reported of it. */
interface Workload {
  pods: number
  ready: number
}

export interface RouterPod {
  pod: Pod
  /** What its HAProxy really does. */
  effect: readonly RouteEntry[]
  /** It does not answer for now. */
  mute: boolean
}

export type Write =
  | { readonly verb: 'apply'; readonly object: KubeObject; readonly before?: KubeObject }
  | { readonly verb: 'delete'; readonly object: KubeObject }
  | { readonly verb: 'annotate'; readonly route: readonly RouteEntry[] }
  | { readonly verb: 'status'; readonly before: ModelDeployment['status'] }

export type Planner = (observed: ServingObserved) => Plan<PlannedServingStatus>
export type AfterWrite = (cluster: ServingCluster, write: Write) => void

export class ServingCluster {
  model: ModelDeployment
  now = START
  offers: Offers
  writes = 0
  readonly objects = new Map<string, KubeObject>()
  readonly workloads = new Map<string, Workload>()
  routers: RouterPod[] = []
  readonly events: string[] = []
  readonly #intents = new Map<string, KubeObject>()
  readonly #said = new Map<string, string>()
  readonly #plan: Planner
  readonly #afterWrite: AfterWrite
  #uids = 0

  constructor(plan: Planner, afterWrite: AfterWrite, { spec = {}, offers = { istio: false, gateway: false } } = {}) {
    this.model = modelDeployment(spec)
    this.offers = offers
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
    const { model, now, offers, deployments } = this
    const router = deployments.find(({ metadata }) => metadata.name.endsWith('-router'))
    const routerPods = this.routers.map(({ pod }) => pod)
    const answering = this.routers.filter(({ mute }) => !mute)
    return {
      model,
      now,
      offers,
      deployments,
      services: this.of('Service'),
      autoscalers: this.of('HorizontalPodAutoscaler'),
      budgets: this.of('PodDisruptionBudget'),
      configMaps: this.of('ConfigMap'),
      claims: this.of('PersistentVolumeClaim'),
      jobs: this.of('Job'),
      pods: routerPods,
      traffic: {
        routes: this.of('VirtualService', 'DestinationRule', 'HTTPRoute'),
        ...(router && { router }),
        routerPods,
        reports: new Map(answering.map(({ pod, effect }) => [pod.metadata.uid ?? '', reportOf(effect)])),
      },
      config: defaultServingConfig,
    }
  }

  /** One pass of the operator; with `survives`, only so many of its writes, as if it had died then. */
  pass(survives = Infinity): Plan<PlannedServingStatus> {
    const plan = this.#plan(this.observed)
    const last = this.writes + survives
    const write = (what: Write, act: () => void): boolean => {
      if (this.writes >= last) return false
      act()
      this.writes += 1
      this.#afterWrite(this, what)
      return true
    }
    for (const object of plan.prune) write({ verb: 'delete', object }, () => this.#delete(object))
    for (const object of plan.apply) this.#apply(object, write)
    for (const { object, annotations } of plan.annotate ?? []) this.#annotate(object, annotations, write)
    const { status } = this.model
    if (plan.status && !sameJson(unstamped(status), plan.status)) {
      const isWritten = write({ verb: 'status', before: status }, () => this.#writeStatus(plan.status))
      if (isWritten) this.events.push(...plan.events.map(({ reason }) => reason))
    }
    return plan
  }

  #writeStatus(status: PlannedServingStatus | undefined): void {
    const conditions = status?.conditions?.map((verdict) => ({
      ...verdict,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }))
    this.model = { ...this.model, status: { ...status, ...(conditions && { conditions }) } } as ModelDeployment
  }

  #delete(object: KubeObject): void {
    const key = keyOf(object)
    this.objects.delete(key)
    this.#intents.delete(key)
    this.workloads.delete(key)
    if (key === `Deployment/${this.model.metadata.name}-router`) this.routers = []
  }

  /** Server-side apply: what only we have said and no longer say is gone. */
  #apply(intent: KubeObject, write: (what: Write, act: () => void) => boolean): void {
    const key = keyOf(intent)
    const text = textOf(intent)
    if (this.#said.get(key) === text && this.objects.has(key)) return
    const before = this.objects.get(key)
    const object = applied(intent, before, this.#intents.get(key), `uid-${(this.#uids += 1)}`)
    write({ verb: 'apply', object, ...(before && { before }) }, () => {
      this.objects.set(key, object)
      this.#intents.set(key, intent)
      this.#said.set(key, text)
    })
  }

  #annotate(
    object: KubeObject,
    annotations: Readonly<Record<string, string>>,
    write: (what: Write, act: () => void) => boolean,
  ): void {
    const router = this.routers.find(({ pod }) => pod.metadata.uid === object.metadata.uid)
    if (!router || router.pod.metadata.annotations?.[ROUTE_ANNOTATION] === annotations[ROUTE_ANNOTATION]) return
    const route = JSON.parse(annotations[ROUTE_ANNOTATION] ?? '[]') as RouteEntry[]
    write({ verb: 'annotate', route }, () => {
      router.pod = { ...router.pod, metadata: { ...router.pod.metadata, annotations } }
    })
  }

  /** A user changes the spec. */
  edit(spec: object): void {
    const { metadata } = this.model
    const next = modelDeployment({ ...this.model.spec, ...spec })
    if (sameJson(next.spec, this.model.spec)) return
    this.model = {
      ...this.model,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: next.spec,
    }
  }

  /** Autoscalers lift to their minimum, Deployments make their pods, and a router has as many as it should. */
  control(): void {
    for (const autoscaler of this.of<HorizontalPodAutoscaler>('HorizontalPodAutoscaler')) this.#autoscale(autoscaler)
    for (const deployment of this.deployments) this.#controlDeployment(deployment)
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
    while (this.routers.length < replicas) this.routers.push(this.#newRouter())
  }

  #newRouter(): RouterPod {
    const uid = `router-${(this.#uids += 1)}`
    const labels = { [MODEL_UID_LABEL]: MODEL_UID, [ROLE_LABEL]: 'router' }
    return { pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid, labels } }, effect: [], mute: false }
  }

  /** Its pods as they really are become known. */
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

  /** How many pods of a version can really answer. */
  change(name: string, ready: (workload: Workload) => number): void {
    const deployment = this.servers.get(name)
    const workload = deployment && this.workloads.get(keyOf(deployment))
    if (workload) workload.ready = Math.max(0, Math.min(workload.pods, ready(workload)))
  }

  /** The agent has seen its annotation, or begins with what the ConfigMap says. */
  steer(router: RouterPod): void {
    const initial = this.objects.get(`ConfigMap/${this.model.metadata.name}-router`) as
      | { readonly data?: Readonly<Record<string, string>> }
      | undefined
    const route = router.pod.metadata.annotations?.[ROUTE_ANNOTATION] ?? initial?.data?.['route.json']
    if (route === undefined) return
    router.effect = JSON.parse(route) as RouteEntry[]
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    router.pod = { ...router.pod, status }
  }

  /** A router pod is lost; the Deployment makes another. */
  lose(router: RouterPod): void {
    this.routers = this.routers.filter((other) => other !== router)
    this.control()
  }

  /** Gateways take up what is stored. */
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

  /** Validations end. */
  judge(verdict: 'Complete' | 'Failed'): void {
    for (const job of this.of<Job>('Job')) {
      if (job.status?.conditions) continue
      const status = { conditions: [{ type: verdict, status: 'True' }] }
      this.objects.set(keyOf(job), { ...job, status } as Job)
    }
  }
}

/** Equal for equal intents. Most of a Deployment is its template, of which only the image ever changes here. */
function textOf(intent: KubeObject): string {
  if (intent.kind !== 'Deployment') return JSON.stringify(intent)
  const { metadata, spec } = intent as Deployment
  const { template, ...rest } = spec ?? {}
  return JSON.stringify([metadata.annotations, rest, template?.spec?.containers[0]?.image])
}

export const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

function reportOf(effect: readonly RouteEntry[]): RouterReport {
  const none = { requests: 0, errors: 0, latencyMsSum: 0 }
  return { startedAt: 0, versions: effect.map(({ version: name, weight }) => ({ version: name, weight, ...none })) }
}

function unstamped(status: ModelDeployment['status']): unknown {
  if (!status?.conditions) return status
  return { ...status, conditions: status.conditions.map(({ lastTransitionTime: _stamped, ...verdict }) => verdict) }
}

const AUTOSCALED = 'autoscaled'

function withReplicas(deployment: Deployment, replicas: number): Deployment {
  const { metadata, spec } = deployment
  const generation = (metadata.generation ?? 0) + 1
  const moved: object = { ...deployment, metadata: { ...metadata, generation }, spec: { ...spec, replicas } }
  return withAnnotation(moved as Deployment)
}

function applied(
  intent: KubeObject,
  before: KubeObject | undefined,
  said: KubeObject | undefined,
  uid: string,
): KubeObject {
  const generation = (before?.metadata.generation ?? 0) + 1
  const metadata = { ...intent.metadata, uid: before?.metadata.uid ?? uid, generation }
  const object: object = { ...before, ...intent, metadata }
  return intent.kind === 'Deployment' ? numbered(object as Deployment, before, said) : (object as KubeObject)
}

/** The number of pods is whose it is: ours if we say it, the autoscaler's once it has said one, else one by default. */
function numbered(intent: Deployment, before?: Deployment, said?: Deployment): Deployment {
  if (intent.spec?.replicas !== undefined || !before) return intent
  const isOurs = before.metadata.annotations?.[AUTOSCALED] === undefined && said?.spec?.replicas !== undefined
  const object: object = { ...intent, spec: { ...intent.spec, replicas: isOurs ? 1 : (before.spec?.replicas ?? 1) } }
  return isOurs ? (object as Deployment) : withAnnotation(object as Deployment)
}

function withAnnotation(deployment: Deployment): Deployment {
  const { metadata } = deployment
  return { ...deployment, metadata: { ...metadata, annotations: { ...metadata.annotations, [AUTOSCALED]: 'yes' } } }
}
