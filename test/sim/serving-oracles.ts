/**
 * What must hold after every single write, whatever happened before. S1: routes sum to 100; S2: no weight for what is not
 * ready; S4: nothing that gets traffic is taken away; S5: nor the last that is ready; G: ours alone, and told honestly.
 */
import assert from 'node:assert/strict'
import { getCondition } from '../../src/api/conditions.ts'
import type { RouteEntry } from '../../src/api/router-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment, Service } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { backendsOf, destinationsOf, type HTTPRoute, type VirtualService } from '../../src/plan/traffic/kinds.ts'
import { MODEL_UID, type ServingCluster, type Write } from './serving-cluster.ts'

type Shares = ReadonlyMap<string, number>

/** Percent by version, as a written object divides traffic; nothing if it does not. */
function divisionIn(object: KubeObject & { readonly data?: unknown }): Shares | undefined {
  if (object.kind === 'VirtualService') {
    const routes = destinationsOf(object as VirtualService)
    return new Map(routes.map(({ destination, weight = 0 }) => [destination.subset ?? '', weight]))
  }
  if (object.kind === 'HTTPRoute') {
    const { name } = object.metadata
    const refs = backendsOf(object as HTTPRoute)
    return new Map(refs.map((ref) => [ref.name.slice(name.length + 1), ref.weight]))
  }
  if (object.kind !== 'ConfigMap' || !object.metadata.name.endsWith('-router')) return undefined
  return divisionOf(JSON.parse((object.data as Record<string, string>)['route.json'] ?? '[]') as RouteEntry[])
}

const divisionOf = (route: readonly RouteEntry[]): Shares =>
  new Map(route.map(({ version, weight }) => [version, weight]))

const availableIn = (deployment: Deployment | undefined): number => deployment?.status?.availableReplicas ?? 0

/** Versions that requests can really reach now, whatever anybody believes. */
export function reached(cluster: ServingCluster): Set<string> {
  const selector = cluster.service?.spec?.selector ?? {}
  const found = new Set<string>()
  const add = (shares: Shares): void => {
    for (const [name, weight] of shares) if (weight > 0) found.add(name)
  }
  if (selector[VERSION_LABEL] !== undefined) found.add(selector[VERSION_LABEL])
  else if (selector[ROLE_LABEL] === 'router')
    for (const { effect, pod } of cluster.routers) if (pod.status) add(divisionOf(effect))
  for (const object of cluster.of('VirtualService', 'HTTPRoute')) add(divisionIn(object) ?? new Map())
  return found
}

export class ServingOracles {
  /** When a version was last reached while it could answer. */
  readonly #reached = new Map<string, number>()
  #generation = 0

  /** To be called after every move, of the operator or of others. */
  look(cluster: ServingCluster): void {
    for (const name of reached(cluster)) this.#reached.set(name, cluster.now)
  }

  check(cluster: ServingCluster, write: Write): void {
    if (write.verb === 'annotate') this.#route(cluster, divisionOf(write.route))
    if (write.verb === 'apply') this.#apply(cluster, write.object, write.before)
    if (write.verb === 'delete') this.#delete(cluster, write.object)
    if (write.verb === 'status') this.#status(cluster)
    this.look(cluster)
  }

  #route(cluster: ServingCluster, shares: Shares): void {
    const weights = [...shares.values()]
    assert.ok(
      weights.every((weight) => Number.isInteger(weight) && weight >= 0 && weight <= 100),
      'S1: whole percents',
    )
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
    const shares = divisionIn(object)
    if (shares) this.#route(cluster, shares)
    if (object === cluster.service && before) this.#turned(cluster, object, before)
    if (object.kind === 'Deployment' && before) this.#scaled(cluster, object, before)
  }

  /** The Service leads where requests can be answered, unless they could be nowhere. */
  #turned(cluster: ServingCluster, service: Service, previous: Service): void {
    const now = service.spec?.selector ?? {}
    const before = previous.spec?.selector ?? {}
    const name = now[VERSION_LABEL]
    if (name !== undefined && before[VERSION_LABEL] !== name)
      assert.ok(availableIn(cluster.servers.get(name)) > 0, `S2: the Service is turned to ${name}, which is not ready`)
    if (now[ROLE_LABEL] === 'router' && before[ROLE_LABEL] !== 'router')
      assert.ok(
        cluster.routers.some(({ effect }) => effect.length > 0),
        'S4: the Service is turned to a dead router',
      )
  }

  /** A number that only we have said is not lost by accident, and nobody shrinks below what it should have. */
  #scaled(cluster: ServingCluster, object: Deployment, before: Deployment): void {
    const name = object.metadata.labels?.[VERSION_LABEL]
    const [from = 1, to = 1] = [before, object].map(({ spec }) => spec?.replicas)
    if (name === undefined || to >= from) return
    const { spec, status } = cluster.model
    assert.ok(
      spec.versions.some((version) => version.name === name),
      `S4: ${name} is leaving, yet scaled down`,
    )
    const isSplit = status?.traffic?.provider === 'replicas'
    assert.ok(isSplit || to >= spec.scaling.minReplicas, `S4: ${name} from ${from} to ${to} pods`)
    const others = [...cluster.servers].filter(([other]) => other !== name).map(([, server]) => availableIn(server))
    const left = Math.min(to, availableIn(before)) + others.reduce((sum, count) => sum + count, 0)
    assert.ok(left > 0 || availableIn(before) === 0, 'S5: the last pods that are ready stay')
  }

  #delete(cluster: ServingCluster, object: KubeObject): void {
    const name = object.metadata.labels?.[VERSION_LABEL]
    if (name === undefined) return this.#deleteWay(cluster, object)
    if (object.kind !== 'Deployment' && object.kind !== 'Service') return undefined
    assert.ok(!cluster.model.spec.versions.some((version) => version.name === name), `S4: ${name} is in the spec`)
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

  #deleteWay(cluster: ServingCluster, { kind, metadata }: KubeObject): undefined {
    const selector = cluster.service?.spec?.selector ?? {}
    const isRouter = kind === 'Deployment' && metadata.name.endsWith('-router')
    assert.ok(!isRouter || selector[ROLE_LABEL] !== 'router', 'S4: the router is deleted while the Service leads to it')
    assert.ok(kind !== 'Service', 'S4: the Service of the model stays')
    const way = { VirtualService: 'istio', HTTPRoute: 'gateway' }[kind]
    assert.notEqual(
      way ?? '',
      cluster.model.status?.traffic?.provider,
      `S4: ${kind} is deleted while it carries traffic`,
    )
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
    assert.ok(isServed, 'G3: Ready, and somebody who gets traffic is ready')
  }
}
