/**
 * A kubelet that runs nothing: it takes every pod of one namespace onto a node of its own, says that it runs, ends it
 * as the test decides, and lets a deleted pod go. With it the life of a pod is as real as the API server can tell.
 */
import { randomBytes } from 'node:crypto'
import type { Client } from '../src/kube/client.ts'
import { isConflict, isNotFound } from '../src/kube/errors.ts'
import { keyOf } from '../src/kube/object.ts'
import { Lease, Node, Pod } from '../src/kube/resources.ts'
import { microTime } from '../src/kube/time.ts'
import { watch } from '../src/kube/watch.ts'
import { condition, ended, imageMissing, now, running, type Saying } from './pod-status.ts'

/** What becomes of a pod that runs. `undefined`: it goes on, ready. A status is what the pod is said to be like. */
export type Fate =
  | { readonly exitCode: number; readonly reason?: string }
  | { readonly disruption: string }
  | Saying
  | 'image-missing'
  | 'unscheduled'
  | undefined

/** Asked about every pod whenever one of them changes. `pods` are all of the namespace, the pod itself included. */
export type Decide = (pod: Pod, pods: readonly Pod[]) => Fate

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
  /** What was last said of a pod, by uid: said once, however often it is asked for. */
  readonly #said = new Map<string, string>()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #decide: Decide
  /** While set, deleted pods stay: a node that does not answer. */
  #holds = false

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
    this.#look()
  }

  /** Pods that are deleted from now on stay Terminating until `letGo`. */
  hold(): void {
    this.#holds = true
  }

  letGo(): void {
    this.#holds = false
    this.#look()
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
      this.#look()
    }
  }

  /** One step for every pod that is due one; what a step leads to comes back through the watch. */
  #look(): void {
    for (const [uid, pod] of this.#pods) {
      if (this.#busy.has(uid)) continue
      const step = this.#step(pod)
      if (!step) continue
      this.#busy.add(uid)
      void step()
        .then((after) => after && this.#pods.has(uid) && this.#pods.set(uid, newest(after, this.#pods.get(uid))))
        .catch((error: unknown) => {
          if (!isNotFound(error) && !isConflict(error) && !this.#stop.signal.aborted) throw error
        })
        .finally(() => {
          this.#busy.delete(uid)
          if (!this.#stop.signal.aborted) this.#look()
        })
    }
  }

  #step(pod: Pod): (() => Promise<Pod | undefined>) | undefined {
    const { phase = 'Pending' } = pod.status ?? {}
    if (pod.metadata.deletionTimestamp !== undefined) return this.#holds ? undefined : () => this.#remove(pod)
    if (phase !== 'Pending' && phase !== 'Running') return undefined
    const fate = this.#decide(pod, this.pods)
    if (fate === 'unscheduled') return undefined
    if (!pod.spec?.nodeName) return () => this.#bind(pod)
    if (phase === 'Running' && isEnd(fate)) return () => this.#report(pod, ended(pod, endOf(fate)))
    return this.#unlessSaid(pod, fate)
  }

  #unlessSaid(pod: Pod, fate: Fate): (() => Promise<Pod>) | undefined {
    const { uid = '' } = pod.metadata
    const { says, status } = sayingOf(pod, fate)
    if (this.#said.get(uid) === says) return undefined
    return async () => {
      const after = await this.#report(pod, status)
      this.#said.set(uid, says)
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

function newest(one: Pod, other: Pod | undefined): Pod {
  const version = (pod: Pod | undefined): bigint => BigInt(pod?.metadata.resourceVersion ?? '0')
  return other !== undefined && version(other) > version(one) ? other : one
}

type End = Extract<Fate, { readonly exitCode: number } | { readonly disruption: string }>

function isEnd(fate: Fate): fate is End {
  return typeof fate === 'object' && !('says' in fate)
}

function sayingOf(pod: Pod, fate: Fate): Saying {
  if (typeof fate === 'object' && 'says' in fate) return fate
  return fate === 'image-missing' ? imageMissing(pod) : { says: 'running', status: running(pod) }
}

function endOf(fate: End): Parameters<typeof ended>[1] {
  return 'exitCode' in fate ? fate : { exitCode: 137, reason: 'Error', disruption: fate.disruption }
}

const HEARTBEAT_MS = 10_000

export interface FakeNode {
  readonly name: string
  /** Says that it is ready, if it was made to say otherwise. */
  revive(): Promise<void>
  remove(): Promise<void>
}

export interface FakeNodeOptions {
  /** Schedulable for pods that tolerate this, and with so much room; else nothing is scheduled to it. */
  readonly taint: { readonly key: string; readonly effect: string }
  readonly resources: Readonly<Record<string, string>>
}

/** A node kept alive by heartbeats, for kubelets to put their pods on. */
export async function fakeNode(client: Client, room?: FakeNodeOptions): Promise<FakeNode> {
  const name = `fake-${randomBytes(4).toString('hex')}`
  const nodeSpec = room ? { taints: [room.taint] } : { unschedulable: true }
  await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: nodeSpec })
  const resources = room ? { capacity: room.resources, allocatable: room.resources } : {}
  const revive = async (): Promise<void> => {
    const ready = condition('Ready', 'True', { reason: 'KubeletReady', lastHeartbeatTime: now() })
    await client.patch(Node, { name }, { status: { conditions: [ready], ...resources } }, { subresource: 'status' })
  }
  await revive()
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
  return { name, revive, remove }
}
