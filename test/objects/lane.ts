/**
 * A lane of a campaign: a namespace with the operator in this process, a fake kubelet and fake routers, and some of our
 * objects. Once converged, its state can be compared: all fields of our objects and their children, without those that differ
 * between any two runs.
 */
import { randomBytes } from 'node:crypto'
import { type Condition, getCondition } from '../../src/api/conditions.ts'
import {
  mlopsModelDeployments,
  modelDeployments,
  modelServers,
  trainingJobs,
  trainingSchedules,
} from '../../src/api/kinds.ts'
import type { Client } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { keyOf, type KubeObject, nameWithKind, type Resource } from '../../src/kube/object.ts'
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { addScheduleController } from '../../src/reconcile/schedule.ts'
import { addServingControllers } from '../../src/reconcile/serving.ts'
import { addTrainingController } from '../../src/reconcile/training.ts'
import { Audit } from '../client/audit.ts'
import { endState, HISTORY, type ItemKey, withKeyedItems } from '../crash/oracles/differential.ts'
import { FakeGateway } from '../fakes/gateway.ts'
import { FakeRouters } from '../fakes/routers.ts'
import { type Decide, isListing, Kubelet } from '../fakes/kubelet.ts'
import { type Operator, startProgram } from '../operator/operator.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { trafficKinds } from '../cluster/traffic-crds.ts'
import { until } from '../timing/until.ts'

export interface CampaignCluster {
  readonly client: Client
  readonly cluster: ClientConfig
  readonly node: string
  /** The kinds of Istio and the Gateway API are served. */
  readonly isRouted: boolean
}

/** Path of a field, from `Kind/name`, to its value. */
export type State = ReadonlyMap<string, string>

export const ownKinds: readonly Resource[] = [
  trainingJobs,
  trainingSchedules,
  modelDeployments,
  mlopsModelDeployments,
  modelServers,
]

const childKinds: readonly Resource[] = [
  Service,
  Deployment,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  ConfigMap,
  PersistentVolumeClaim,
  Job,
  Pod,
]

/** Every object is reconciled this often, so that passes without a write show convergence. */
const RESYNC_MS = 200
const QUIET_PASSES = 4
/** Catches lanes that never converge. Generous, because the machine may be busy. */
const PATIENCE_MS = 180_000
const UNCHANGED_MS = 15_000
/**
 * Fields of other controllers, what our status quotes of the autoscaler's, and the history, which depends on the way. Only a later
 * attempt lists checkpoints.
 */
const FOREIGN =
  /deployment\.kubernetes\.io\/revision|autoscaling\.alpha|\.lastTransitionTime|\.kube-api-access-|\.conditions\.Scaled\.|\.status\.(history|rollout|checkpoint)\b/

/** Validation Jobs: the one of a version that has passed before is not created again. */
const VALIDATION = /^Job\/[^.]*-validate-/

export class Lane {
  readonly namespace: string
  readonly #campaignCluster: CampaignCluster
  readonly #audit = new Audit()
  readonly #operator: Operator
  readonly #others: readonly { stop(): Promise<void> }[]

  private constructor(campaignCluster: CampaignCluster, namespace: string, decide: Decide) {
    const { client, cluster, node, isRouted } = campaignCluster
    this.namespace = namespace
    this.#campaignCluster = campaignCluster
    const scope = { namespace, resyncMs: RESYNC_MS }
    const routers = new FakeRouters()
    this.#operator = startProgram({ cluster, interceptors: [this.#audit.interceptor] }, (manager) => {
      const readLog = (): Promise<undefined> => Promise.resolve(undefined)
      addTrainingController(manager, { ...scope, readLog, config: { backoffMs: 0 } })
      addScheduleController(manager, scope)
      const rates = { note: () => undefined }
      const config = { drainSeconds: 0 }
      addServingControllers(manager, { ...scope, discoveryMs: 200, rates, readReports: routers.read, config })
    })
    const kubelet = new Kubelet({ client, namespace, node, decide })
    this.#others = [kubelet, ...(isRouted ? [new FakeGateway(client, namespace)] : [])]
  }

  static async open(campaignCluster: CampaignCluster, decide: Decide): Promise<Lane> {
    const { client } = campaignCluster
    const name = await createNamespace(client, `objects-${randomBytes(4).toString('hex')}`)
    return new Lane(campaignCluster, name, decide)
  }

  get client(): Client {
    return this.#campaignCluster.client
  }

  create(resource: Resource, object: KubeObject): Promise<KubeObject> {
    return this.client.create(resource, { ...object, metadata: { ...object.metadata, namespace: this.namespace } })
  }

  /** Our objects and the objects that they control. */
  async objects(): Promise<readonly KubeObject[]> {
    return ours(await this.#all())
  }

  /**
   * Waits for convergence. Returns the state. An object whose writes are rejected is retried ever more rarely, and pods that
   * are rejected never start: what has not changed for a while has converged, too.
   */
  async converge(): Promise<State> {
    let last = { text: '', writes: -1, passes: 0, time: 0 }
    return until(
      `${this.namespace} to converge`,
      async () => {
        const all = await this.#all()
        const state = this.#stateOf(ours(all))
        const passes = await this.#operator.passes()
        const now = { text: JSON.stringify([...state]), writes: this.#writes, passes, time: Date.now() }
        if (now.text !== last.text || now.writes !== last.writes || !this.#hasSeen(all)) last = now
        const isQuiet = passes - last.passes >= QUIET_PASSES * all.filter(isOwn).length
        return (isQuiet && isSettled(all)) || now.time - last.time >= UNCHANGED_MS ? state : undefined
      },
      PATIENCE_MS,
    )
  }

  async stop(): Promise<void> {
    await Promise.all([this.#operator.stop(), ...this.#others.map((other) => other.stop())])
    for (const object of (await this.#all()).filter(isOwn)) {
      const resource = resourceOf(object)
      await this.client.patch(resource, keyOf(object), { metadata: { finalizers: null } }).catch(() => undefined)
    }
    await this.client.delete(Namespace, { name: this.namespace })
  }

  /** Accepted writes. */
  get #writes(): number {
    return this.#audit.writes.filter(({ what, code }) => code < 300 && !/^(leases|events)/.test(what)).length
  }

  #stateOf(objects: readonly KubeObject[]): State {
    const state = endState(objects.map(byName), this.namespace)
    return new Map([...state].filter(([path]) => ![FOREIGN, HISTORY, VALIDATION].some((ignored) => ignored.test(path))))
  }

  async #all(): Promise<KubeObject[]> {
    const kinds = [...ownKinds, ...childKinds, ...(this.#campaignCluster.isRouted ? trafficKinds : [])]
    const lists = await Promise.all(kinds.map((kind) => this.client.list(kind, { namespace: this.namespace })))
    return lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
  }

  #hasSeen(all: readonly KubeObject[]): boolean {
    const { caches } = this.#operator.manager
    return all.every((object) =>
      caches
        .allHolding(object)
        .every((cache) => cache.get(keyOf(object))?.metadata.resourceVersion === object.metadata.resourceVersion),
    )
  }
}

/** The name of a list item, or the type of a condition. */
const nameIn: ItemKey = (item) => {
  const { name, type } = (item ?? {}) as { readonly name?: unknown; readonly type?: unknown }
  const key = name ?? type
  return typeof key === 'string' ? key : ''
}

const byName = (object: KubeObject): KubeObject => withKeyedItems(object, nameIn) as KubeObject

export const isOwn = ({ kind, apiVersion }: KubeObject): boolean =>
  ownKinds.some((own) => own.kind === kind && apiVersion === `${own.group}/${own.version}`)

/** The kind of an object that a lane holds. */
export function resourceOf(object: KubeObject): Resource {
  const apiVersion = ({ group, version }: Resource): string => (group === '' ? version : `${group}/${version}`)
  const known = [...ownKinds, ...childKinds, ...trafficKinds]
  const found = known.find((kind) => kind.kind === object.kind && apiVersion(kind) === object.apiVersion)
  if (!found) throw new Error(`${nameWithKind(object)} is of no kind that a lane holds`)
  return found
}

/** Our objects among these, with their children and claims. */
function ours(all: readonly KubeObject[]): readonly KubeObject[] {
  const owners = new Set(all.filter(isOwn).map(({ metadata }) => metadata.uid))
  const isChild = ({ metadata }: KubeObject): boolean =>
    metadata.ownerReferences?.some(({ uid, controller }) => controller === true && owners.has(uid)) ?? false
  return all.filter((object) => isOwn(object) || isChild(object) || object.kind === PersistentVolumeClaim.kind)
}

const isDeployment = (object: KubeObject): object is Deployment => object.kind === Deployment.kind

/** Nothing is terminating, no pod lists checkpoints, every Deployment is rolled out, and no model is progressing. */
function isSettled(all: readonly KubeObject[]): boolean {
  return all.every((object) => {
    if (object.metadata.deletionTimestamp !== undefined || isListing(object)) return false
    if (isOwn(object)) return object.kind === modelServers.kind || isReported(object)
    return !isDeployment(object) || isRolledOut(object)
  })
}

interface Reported extends KubeObject {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] }
}

function isReported({ metadata, status }: Reported): boolean {
  const progressing = getCondition(status?.conditions, 'Progressing')
  return status?.observedGeneration === metadata.generation && progressing?.status !== 'True'
}

function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const { observedGeneration, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {}
  const counts = [replicas, updatedReplicas, availableReplicas]
  return observedGeneration === metadata.generation && counts.every((count) => count === (spec?.replicas ?? 1))
}

/** `Kind/name path: before → after` for every field that differs. */
export function differences(before: State, after: State): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `${path}: ${before.get(path) ?? 'absent'} → ${after.get(path) ?? 'absent'}`)
}
