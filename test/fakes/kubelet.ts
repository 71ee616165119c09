/**
 * A fake kubelet: binds every pod of one namespace to its node, reports it as running, ends it as the test decides, and removes
 * terminating pods. It runs no containers, but the API server sees no difference.
 */
import { randomBytes } from 'node:crypto'
import type { Client } from '../../src/kube/client.ts'
import { ApiError, ConnectionError, hasCause, isConflict, isNotFound } from '../../src/kube/errors.ts'
import { keyOf } from '../../src/kube/object.ts'
import { Lease, Node, Pod } from '../../src/kube/resources.ts'
import { microTime } from '../../src/kube/time.ts'
import { watch } from '../../src/kube/watch.ts'
import { condition, ended, imageMissing, now, running, type NamedStatus } from './pod-status.ts'

/** What happens to a pod. `undefined`: it keeps running, ready. A `NamedStatus` is reported as it is. */
export type PodOutcome =
  | { readonly exitCode: number; readonly reason?: string; readonly message?: string }
  | { readonly disruption: string }
  | NamedStatus
  | 'image-missing'
  | 'unscheduled'
  | undefined

/** Called for every pod whenever one of them changes. `pods` are all pods of the namespace. */
export type Decide = (pod: Pod, pods: readonly Pod[]) => PodOutcome

export interface KubeletOptions {
  readonly client: Client
  readonly namespace: string
  readonly node: string
  readonly decide: Decide
}

export class Kubelet {
  readonly #options: KubeletOptions
  readonly #pods = new Map<string, Pod>()
  readonly #busy = new Set<string>()
  /** The name of the status last reported for a pod, by uid. */
  readonly #reported = new Map<string, string>()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #decide: Decide
  #list: Decide = () => ({ exitCode: 0, message: NO_CHECKPOINTS })
  /** While set, terminating pods stay, as on a node that does not respond. */
  #holdsTerminating = false

  constructor(options: KubeletOptions) {
    this.#options = options
    this.#decide = options.decide
    this.#ended = this.#follow()
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()]
  }

  decide(decide: Decide): void {
    this.#decide = decide
    this.#reconcile()
  }

  /** Decides about the pods that list checkpoints. By default they find none. */
  decideListing(list: Decide): void {
    this.#list = list
    this.#reconcile()
  }

  /** Deleted pods stay Terminating until `releaseTerminating`. */
  holdTerminating(): void {
    this.#holdsTerminating = true
  }

  releaseTerminating(): void {
    this.#holdsTerminating = false
    this.#reconcile()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #follow(): Promise<void> {
    const { client, namespace } = this.#options
    for await (const update of watch(client, Pod, { namespace, signal: this.#stop.signal })) {
      if (update.type === 'replace') {
        this.#pods.clear()
        for (const pod of update.items) this.#pods.set(pod.metadata.uid ?? '', pod)
      } else if (update.type === 'apply') this.#pods.set(update.object.metadata.uid ?? '', update.object)
      else if (update.type === 'delete') this.#pods.delete(update.object.metadata.uid ?? '')
      this.#reconcile()
    }
  }

  /** Takes the next step for every pod that has one. Its effect arrives through the watch. */
  #reconcile(): void {
    for (const [uid, pod] of this.#pods) {
      if (this.#busy.has(uid)) continue
      const step = this.#step(pod)
      if (!step) continue
      this.#busy.add(uid)
      void step()
        .then((after) => after && this.#pods.has(uid) && this.#pods.set(uid, newest(after, this.#pods.get(uid))))
        .catch((error: unknown) => {
          if (!isExpected(error) && !this.#stop.signal.aborted) throw error
        })
        .finally(() => {
          this.#busy.delete(uid)
          if (!this.#stop.signal.aborted) this.#reconcile()
        })
    }
  }

  #step(pod: Pod): (() => Promise<Pod | undefined>) | undefined {
    const { phase = 'Pending' } = pod.status ?? {}
    if (pod.metadata.deletionTimestamp !== undefined)
      return this.#holdsTerminating ? undefined : () => this.#remove(pod)
    if (phase !== 'Pending' && phase !== 'Running') return undefined
    const outcome = this.#outcomeOf(pod)
    if (outcome === 'unscheduled') return undefined
    if (!pod.spec?.nodeName) return () => this.#bind(pod)
    if (phase === 'Running' && isEnd(outcome)) return () => this.#report(pod, ended(pod, endOf(outcome)))
    return this.#reportOnce(pod, outcome)
  }

  #outcomeOf(pod: Pod): PodOutcome {
    return isListing(pod) ? this.#list(pod, this.pods) : this.#decide(pod, this.pods)
  }

  #reportOnce(pod: Pod, outcome: PodOutcome): (() => Promise<Pod>) | undefined {
    const { uid = '' } = pod.metadata
    const { name, status } = statusFor(pod, outcome)
    if (this.#reported.get(uid) === name) return undefined
    return async () => {
      const after = await this.#report(pod, status)
      this.#reported.set(uid, name)
      return after
    }
  }

  async #bind(pod: Pod): Promise<undefined> {
    const { client, node } = this.#options
    const { namespace, name, uid } = pod.metadata
    const target = { apiVersion: 'v1', kind: 'Node', name: node }
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target }
    await client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body })
    const { metadata, ...rest } = await client.get(Pod, keyOf(pod))
    if (metadata.uid === uid && this.#pods.has(uid ?? '')) this.#pods.set(uid ?? '', { metadata, ...rest })
  }

  async #report(pod: Pod, status: object): Promise<Pod> {
    const { uid } = pod.metadata
    return this.#options.client.patch(Pod, keyOf(pod), { metadata: { uid }, status }, { subresource: 'status' })
  }

  async #remove(pod: Pod): Promise<undefined> {
    const { uid } = pod.metadata
    await this.#options.client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0, ...(uid !== undefined && { uid }) })
    this.#pods.delete(uid ?? '')
  }
}

const NO_CHECKPOINTS = '{"count":0,"pruned":0,"imported":false}'

/** Whether the pod lists the checkpoints of a training job. */
export const isListing = ({ metadata }: Pod): boolean => metadata.labels?.['component'] === 'checkpoints'

/** The pod or its namespace is being deleted, or the pod has changed, or the server is busy. The watch reports what follows. */
function isExpected(error: unknown): boolean {
  const isTerminating = error instanceof ApiError && hasCause(error, 'NamespaceTerminating')
  return isTerminating || isNotFound(error) || isConflict(error) || isTransient(error)
}

/** The API server was too busy to respond, so the step can be retried. */
export function isTransient(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && (error.code >= 500 || error.code === 429))
}

function newest(one: Pod, other: Pod | undefined): Pod {
  const version = (pod: Pod | undefined): bigint => BigInt(pod?.metadata.resourceVersion ?? '0')
  return other !== undefined && version(other) > version(one) ? other : one
}

type End = Extract<PodOutcome, { readonly exitCode: number } | { readonly disruption: string }>

function isEnd(outcome: PodOutcome): outcome is End {
  return typeof outcome === 'object' && !('name' in outcome)
}

function statusFor(pod: Pod, outcome: PodOutcome): NamedStatus {
  if (typeof outcome === 'object' && 'name' in outcome) return outcome
  return outcome === 'image-missing' ? imageMissing(pod) : { name: 'running', status: running(pod) }
}

function endOf(outcome: End): Parameters<typeof ended>[1] {
  return 'exitCode' in outcome ? outcome : { exitCode: 137, reason: 'Error', disruption: outcome.disruption }
}

const HEARTBEAT_MS = 10_000

export interface FakeNode {
  readonly name: string
  /** Reports the node as Ready again. */
  reportReady(): Promise<void>
  remove(): Promise<void>
}

export interface FakeNodeOptions {
  /** Makes the node schedulable for pods that tolerate this taint. Default: unschedulable. */
  readonly taint: { readonly key: string; readonly effect: string }
  readonly resources: Readonly<Record<string, string>>
}

/** Creates a node, kept Ready by heartbeats, for fake kubelets to bind pods to. */
export async function fakeNode(client: Client, options?: FakeNodeOptions): Promise<FakeNode> {
  const name = `fake-${randomBytes(4).toString('hex')}`
  const nodeSpec = options ? { taints: [options.taint] } : { unschedulable: true }
  await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: nodeSpec })
  const resources = options ? { capacity: options.resources, allocatable: options.resources } : {}
  const reportReady = async (): Promise<void> => {
    const ready = condition('Ready', 'True', { reason: 'KubeletReady', lastHeartbeatTime: now() })
    await client.patch(Node, { name }, { status: { conditions: [ready], ...resources } }, { subresource: 'status' })
  }
  await reportReady()
  const at = { namespace: 'kube-node-lease', name }
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(new Date()) }
  await client.create(Lease, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: at, spec })
  const renew = (): void => {
    const renewTime = microTime(new Date())
    void client.patch(Lease, at, { spec: { renewTime } }).catch(() => undefined)
  }
  const heartbeat = setInterval(renew, HEARTBEAT_MS)
  const remove = async (): Promise<void> => {
    clearInterval(heartbeat)
    await client.delete(Lease, at)
    await client.delete(Node, { name })
  }
  return { name, reportReady, remove }
}
