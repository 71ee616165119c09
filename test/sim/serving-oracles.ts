/**
 * What must hold after every single write, whatever happened before. S1: routes sum to 100; S2: no weight for what is not
 * ready; S3: a version that traffic is taken from gets no more of it; S4: nothing that gets traffic is deleted; S5: nor the last ready version; S6: what a rollout goes back to stays as it was; S8: all traffic moves at once only to versions with all their pods; S7: a version runs only what has passed
 * its validation, if the model asks for one; S9: pods with GPUs are replaced as recorded; S10: Jobs judge the recorded step; G: only our own objects, and a truthful status.
 */
import assert from 'node:assert/strict'
import { getCondition } from '../../src/api/conditions.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { entriesOf, type RouteEntry } from '../../src/api/router-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment, Job, Service } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { backendsOf, type HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { destinationsOf, type VirtualService } from '../../src/plan/traffic/providers/istio/kinds.ts'
import type { ServingObserved } from '../../src/plan/serving/index.ts'
import { contentOf } from '../builders/model-deployment.ts'
import { AUTOSCALED } from './server-side-apply.ts'
import type { RouterPod } from './router-pod.ts'
import { isNeeded, isRestored, mayBeNeeded, RolloutOracles } from './rollout-oracles.ts'
import { checkAnalysis } from './analysis-oracles.ts'
import { SurgeOracle } from './surge-oracles.ts'
import { checkService, isRemovedFirst } from './switch-oracles.ts'
import { MODEL_UID, type ServingCluster, type Write } from './serving-cluster.ts'

type Shares = ReadonlyMap<string, number>

/** Weights by version in a written object. Undefined if it has none. */
function weightsIn(object: KubeObject & { readonly data?: unknown }): Shares | undefined {
  if (object.kind === 'VirtualService') {
    const routes = destinationsOf(object as VirtualService)
    return new Map(routes.map(({ destination, weight = 0 }) => [destination.subset ?? '', weight]))
  }
  if (object.kind === 'HTTPRoute') {
    const { name } = object.metadata
    const refs = backendsOf(object as HTTPRoute)
    return new Map(refs.map((ref) => [ref.name.slice(name.length + 1), ref.weight]))
  }
  if (object.kind !== 'ConfigMap' || !object.metadata.name.endsWith('-router-envoy')) return undefined
  return weightsOf(entriesOf((object.data as Record<string, string>)['route.json'] ?? '[]'))
}

const weightsOf = (route: readonly RouteEntry[]): Shares =>
  new Map(route.map(({ version, weight }) => [version, weight]))

/** A router pod that answers: ready, with a route. */
const isCarrying = ({ effect, pod }: RouterPod): boolean => pod.status !== undefined && effect.length > 0

const availableIn = (deployment: Deployment | undefined): number => deployment?.status?.availableReplicas ?? 0

/** Versions that requests can actually reach now. */
export function reached(cluster: ServingCluster): Set<string> {
  const selector = cluster.service?.spec?.selector ?? {}
  const found = new Set<string>()
  const add = (shares: Shares): void => {
    for (const [name, weight] of shares) if (weight > 0) found.add(name)
  }
  if (selector[VERSION_LABEL] !== undefined) found.add(selector[VERSION_LABEL])
  else if (selector[ROLE_LABEL] === 'router')
    for (const { effect, pod } of cluster.routers) if (pod.status) add(weightsOf(effect))
  for (const object of cluster.of('VirtualService', 'HTTPRoute')) add(weightsIn(object) ?? new Map())
  return found
}

/** Where pod counts split the traffic, the operator sets them until another provider is in effect. */
function isWithin({ spec: { scaling } }: ModelDeployment, pods: number): boolean {
  return scaling.minReplicas < scaling.maxReplicas && pods >= scaling.minReplicas && pods <= scaling.maxReplicas
}

function isSplitByPods({ model: { spec, status } }: ServingCluster): boolean {
  return [spec.traffic.provider, status?.traffic?.provider, status?.traffic?.previous].includes('replicas')
}

const isPassed = ({ status }: Job): boolean => status?.conditions?.some(({ type }) => type === 'Complete') ?? false

const validationId = (object: Deployment | Job): string =>
  `${object.metadata.labels?.[VERSION_LABEL]} ${contentOf(object)}`

export class ServingOracles {
  /** When a version was last reached while it could answer. */
  readonly #reached = new Map<string, number>()
  /** When the Service last led to each router pod that is still there. */
  #routed = new Map<string, number>()
  /** Version and content of every validation that has passed. */
  readonly #validated = new Set<string>()
  #generation = 0
  readonly #rollouts = new RolloutOracles()
  readonly #surges = new SurgeOracle()

  /** To be called with what every pass of the operator observes. */
  observe({ devices }: ServingObserved): void {
    this.#surges.nodes = devices
  }

  /** To be called after every move, of the operator or of others. */
  look(cluster: ServingCluster): void {
    for (const name of reached(cluster)) this.#reached.set(name, cluster.now)
    const isRouted = cluster.service?.spec?.selector?.[ROLE_LABEL] === 'router'
    const uids = cluster.routers.map(({ pod }) => pod.metadata.uid ?? '')
    this.#routed = new Map(uids.map((uid) => [uid, isRouted ? cluster.now : (this.#routed.get(uid) ?? 0)]))
  }

  check(cluster: ServingCluster, write: Write): void {
    for (const job of cluster.of<Job>('Job')) if (isPassed(job)) this.#validated.add(validationId(job))
    if (write.verb === 'annotate') this.#route(cluster, weightsOf(write.route))
    if (write.verb === 'apply') this.#apply(cluster, write.object, write.before)
    if (write.verb === 'delete') this.#delete(cluster, write.object)
    if (write.verb === 'status') this.#status(cluster)
    this.#rollouts.check(cluster, write)
    this.look(cluster)
  }

  #route(cluster: ServingCluster, shares: Shares): void {
    const weights = [...shares.values()]
    assert.ok(
      weights.every((weight) => Number.isInteger(weight) && weight >= 0 && weight <= 100),
      'S1: whole percents',
    )
    this.#rollouts.route(cluster, shares)
    assert.equal(
      weights.reduce((sum, weight) => sum + weight, 0),
      100,
      'S1: a route sums to 100',
    )
    for (const [name, weight] of shares)
      assert.ok(
        weight === 0 || availableIn(cluster.servers.get(name)) > 0,
        `S2: ${name} gets ${weight} and is not ready`,
      )
  }

  #apply(cluster: ServingCluster, object: KubeObject, before: KubeObject | undefined): void {
    assert.equal(object.metadata.labels?.[MODEL_UID_LABEL], MODEL_UID, 'G2: ours is labelled')
    assert.equal(object.metadata.namespace, cluster.model.metadata.namespace, 'G2: in its namespace')
    const shares = weightsIn(object)
    if (shares) this.#route(cluster, shares)
    assert.ok(cluster.isServed(object), `G2: ${object.kind} is written, and the cluster does not serve it`)
    if (object === cluster.service && before) this.#switched(cluster, object, before)
    if (object.kind === 'Deployment') this.#content(cluster, object)
    if (object.kind === 'Job' && !before) checkAnalysis(cluster, object)
    if (object.kind === 'Deployment' && before) {
      this.#autoscaled(cluster, object, before)
      this.#scaled(cluster, object, before)
      this.#surges.check(cluster, object, before)
    }
  }

  /** S7: where a model asks for validation, a version runs only what has passed it. */
  #content({ model }: ServingCluster, deployment: Deployment): void {
    if (!model.spec.validation || deployment.metadata.labels?.[VERSION_LABEL] === undefined) return
    const { name } = deployment.metadata
    assert.ok(this.#validated.has(validationId(deployment)), `S7: ${name} runs what has not passed its validation`)
  }

  /** S6: where an autoscaler has chosen a number of pods, within bounds, it stays. */
  #autoscaled(cluster: ServingCluster, { metadata, spec }: Deployment, before: Deployment): void {
    const from = before.spec?.replicas ?? 1
    const isChosen = before.metadata.annotations?.[AUTOSCALED] !== undefined && isWithin(cluster.model, from)
    if (!isChosen || isSplitByPods(cluster)) return
    if (isRestored(cluster.model, metadata.labels?.[VERSION_LABEL])) return
    assert.equal(spec?.replicas ?? 1, from, `S6: the number of pods of ${metadata.name} was changed`)
  }

  /** The Service leads where requests can be answered, unless they could be nowhere. */
  #switched(cluster: ServingCluster, service: Service, previous: Service): void {
    const now = service.spec?.selector ?? {}
    const before = previous.spec?.selector ?? {}
    const name = now[VERSION_LABEL]
    if (name !== undefined && before[VERSION_LABEL] !== name)
      assert.ok(
        availableIn(cluster.servers.get(name)) > 0,
        `S2: the Service is switched to ${name}, which is not ready`,
      )
    if (now[ROLE_LABEL] === 'router' && before[ROLE_LABEL] !== 'router')
      assert.ok(cluster.routers.some(isCarrying), 'S4: the Service is switched to a dead router')
  }

  /** A number that only we have set is not lost, and no version shrinks below its minimum. */
  #scaled(cluster: ServingCluster, object: Deployment, before: Deployment): void {
    const name = object.metadata.labels?.[VERSION_LABEL]
    const [from = 1, to = 1] = [before, object].map(({ spec }) => spec?.replicas)
    if (name === undefined || to >= from) return
    const { spec, status } = cluster.model
    assert.ok(mayBeNeeded(cluster.model, name), `S4: ${name} is being retired, yet scaled down`)
    const isSplit = status?.traffic?.provider === 'replicas'
    assert.ok(
      isSplit || isRestored(cluster.model, name) || to >= spec.scaling.minReplicas,
      `S4: ${name} from ${from} to ${to} pods`,
    )
    const others = [...cluster.servers].filter(([other]) => other !== name).map(([, server]) => availableIn(server))
    const left = Math.min(to, availableIn(before)) + others.reduce((sum, count) => sum + count, 0)
    assert.ok(left > 0 || availableIn(before) === 0, 'S5: the last pods that are ready stay')
  }

  #delete(cluster: ServingCluster, object: KubeObject): void {
    const name = object.metadata.labels?.[VERSION_LABEL]
    if (name === undefined && object.kind === 'Service') return checkService(cluster, object.metadata.name)
    if (name === undefined) return this.#deleteRoute(cluster, object)
    if (object.kind !== 'Deployment' && object.kind !== 'Service') return undefined
    assert.ok(!isNeeded(cluster.model, name), `S4: ${name} is in the spec, or is to go back to`)
    return isRemovedFirst(cluster.model, cluster.servers) ? undefined : this.#retired(cluster, object, name)
  }

  #retired(cluster: ServingCluster, object: Deployment, name: string): undefined {
    assert.ok(!reached(cluster).has(name), `S4: ${object.kind} of ${name} is deleted while requests reach it`)
    if (object.kind === 'Service' || availableIn(object) === 0) return undefined
    const others = [...cluster.servers].filter(([other]) => other !== name)
    assert.ok(
      others.some(([, server]) => availableIn(server) > 0),
      `S5: ${name} is the last that is ready`,
    )
    if (cluster.model.status?.traffic?.provider === 'replicas') return undefined
    const drain = cluster.model.spec.traffic.drainSeconds ?? 30
    const idle = cluster.now - (this.#reached.get(name) ?? 0)
    assert.ok(idle >= drain * 1000, `S4: ${name} is deleted ${idle / 1000} s after its last requests`)
    return undefined
  }

  #drained(cluster: ServingCluster): void {
    const drain = cluster.model.spec.traffic.drainSeconds ?? 30
    const idle = cluster.now - Math.max(0, ...this.#routed.values())
    assert.ok(idle >= drain * 1000, `S4: the router is deleted ${idle / 1000} s after its last requests`)
  }

  #deleteRoute(cluster: ServingCluster, { kind, metadata }: KubeObject): undefined {
    const selector = cluster.service?.spec?.selector ?? {}
    const isRouter = kind === 'Deployment' && metadata.name.endsWith('-router')
    assert.ok(!isRouter || selector[ROLE_LABEL] !== 'router', 'S4: the router is deleted while the Service leads to it')
    if (isRouter) this.#drained(cluster)
    // The route of the gateways is deleted with the last gateway of the spec.
    if (metadata.name.endsWith('-vs-gateways') && !cluster.model.spec.traffic.gateways) return undefined
    const provider = { VirtualService: 'istio', HTTPRoute: 'gateway' }[kind]
    assert.notEqual(
      provider ?? '',
      cluster.model.status?.traffic?.provider,
      `S4: ${kind} is deleted while it carries traffic`,
    )
    return undefined
  }

  #status({ model, servers }: ServingCluster): void {
    const { observedGeneration = 0, activeVersions = [], conditions } = model.status ?? {}
    assert.ok(observedGeneration >= this.#generation, 'G3: observedGeneration never falls')
    assert.ok(observedGeneration <= (model.metadata.generation ?? 0), 'G3: nor is it ahead')
    this.#generation = observedGeneration
    const total = activeVersions.reduce((sum, { weight = 0 }) => sum + weight, 0)
    assert.ok(total === 0 || total === 100, `S1: the weights in the status sum to ${total}`)
    if (getCondition(conditions, 'Ready')?.status !== 'True') return
    const isServed = activeVersions.some(({ name, weight = 0 }) => weight > 0 && availableIn(servers.get(name)) > 0)
    assert.ok(isServed, 'G3: Ready, and a version with traffic is ready')
  }
}
