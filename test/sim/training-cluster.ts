/** A simulated cluster with one TrainingJob. Plays the kubelets, the Job controller and the garbage collector. */
import { withDefaults } from '../../src/api/defaults.ts'
import { type TrainingJob, type TrainingJobSpec, trainingJobV1 } from '../../src/api/trainingjob.v1.ts'
import { type KubeObject, nameWithKind, type OwnerReference } from '../../src/kube/object.ts'
import type { Job, PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import type { Plan } from '../../src/decision/plan.ts'
import {
  type Acceptance,
  acceptanceOf,
  defaultTrainingConfig,
  membershipOf,
  type NodeFacts,
  type PlannedStatus,
  planTraining,
  type TrainingConfig,
  type TrainingObserved,
} from '../../src/plan/training/index.ts'
import { timestamp } from '../../src/plan/time.ts'
import { controlJob } from './job-controller.ts'
import { type Exit, isTerminating, PodStore } from './pod-store.ts'
import { SimulatedCluster } from './simulated-cluster.ts'

export const JOB_UID = 'uid-of-job'

/** As the API server returns it. */
export function trainingJob(spec: object = {}, name = 'bert'): TrainingJob {
  const whole = withDefaults(trainingJobV1.spec, { model: 'bert', dataset: 'wiki', ...spec })
  return {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    metadata: { name, namespace: 'team-a', uid: JOB_UID, generation: 1, resourceVersion: '1' },
    spec: whole as TrainingJobSpec,
  }
}

/** Writes are texts such as `create Pod/bert-workers-0` or `status`. */
export class TrainingCluster extends SimulatedCluster<PlannedStatus, string> {
  job: TrainingJob
  workload: Job | undefined
  readonly nodes: NodeFacts[] = []
  readonly claims: PersistentVolumeClaim[] = []
  readonly secrets = new Set<string>()
  expired = false
  readonly config: TrainingConfig
  readonly #pods = new PodStore()
  readonly #afterWrite: (cluster: TrainingCluster) => void

  constructor(spec: object = {}, afterWrite: (cluster: TrainingCluster) => void = () => undefined) {
    super()
    this.job = trainingJob(spec)
    this.config = { ...defaultTrainingConfig }
    this.#afterWrite = afterWrite
  }

  get pods(): readonly Pod[] {
    return this.#pods.all
  }

  get observed(): TrainingObserved {
    const { job, now, claims, nodes, config, workload } = this
    const members = membershipOf(job, workload, this.pods)
    const sshKeyPair = { 'ssh-privatekey': 'private', 'ssh-publickey': 'public' }
    const base = { job, now, ...members, claims, nodes, config, logTails: new Map<string, string>() }
    return {
      ...base,
      ...(workload && { workload }),
      secretData: { sshKeyPair },
    }
  }

  /** Plans and commits until there is nothing left to write. Returns the number of passes. */
  settle(limit = 50): number {
    for (let pass = 1; pass <= limit; pass += 1) {
      this.controlJob()
      const before = this.writes.length
      this.pass()
      if (this.writes.length === before) return pass
    }
    throw new Error(`not settled after ${limit} passes: ${this.writes.slice(-10).join(', ')}`)
  }

  // What users do.

  edit(spec: Partial<TrainingJobSpec>): void {
    const { metadata } = this.job
    const generation = (metadata.generation ?? 0) + 1
    this.job = { ...this.job, metadata: { ...metadata, generation }, spec: { ...this.job.spec, ...spec } }
  }

  // What nodes do.

  /** Binds and runs every pending pod. */
  runAll(): void {
    for (const pod of this.pods) if (pod.status?.phase === 'Pending' && !isTerminating(pod)) this.run(pod)
  }

  run(pod: Pod, node = `node-${pod.metadata.name}`): void {
    if (!this.nodes.some(({ name }) => name === node)) this.nodes.push({ name: node, ready: true, since: this.now })
    this.#pods.run(pod, node, this.now)
  }

  exit(pod: Pod, exit: Exit): void {
    this.#pods.exit(pod, exit, this.now)
    this.controlJob()
  }

  exitAll(exit: Exit): void {
    for (const pod of this.pods) if (pod.status?.phase === 'Running' && !isTerminating(pod)) this.exit(pod, exit)
  }

  /** Stores the pod as given. */
  change(pod: Pod): void {
    this.#pods.put(pod)
  }

  /** Sets the condition DisruptionTarget, then deletes the pod, as a preemption does. */
  preempt(pod: Pod): void {
    const mark = { type: 'DisruptionTarget', status: 'True' as const, reason: 'PreemptionByScheduler' }
    const conditions = [{ ...mark, lastTransitionTime: timestamp(this.now) }]
    this.change({ ...pod, status: { ...pod.status, conditions } })
    this.delete(this.#pods.get(pod.metadata.name) ?? pod)
  }

  /** A user deletes the pod. */
  delete(pod: Pod): void {
    this.#pods.delete(pod, this.now)
    this.controlJob()
  }

  /** The pod is gone at once, as after a forced deletion. */
  vanish(pod: Pod): void {
    this.#pods.remove(pod)
    this.controlJob()
  }

  /** All terminating pods are gone. */
  letGo(): void {
    for (const pod of this.pods) if (isTerminating(pod)) this.#pods.remove(pod)
    this.controlJob()
  }

  /** One reconcile of the Job controller. */
  controlJob(): void {
    if (!this.workload?.spec) return
    this.workload = controlJob(this.workload, {
      all: this.pods,
      uids: () => this.#pods.uids,
      create: (pod) => this.#createPod(pod),
      delete: (pod) => this.#pods.delete(pod, this.now),
    })
  }

  // What the operator does.

  /** Accepts the job first: its finalizers and annotations are a write of their own. */
  protected override plan(): Plan<PlannedStatus> | undefined {
    const acceptance = acceptanceOf(this.job)
    if (acceptance) this.write('accept', () => this.#accept(acceptance))
    return acceptanceOf(this.job) ? undefined : planTraining(this.observed)
  }

  #accept({ finalizers, annotations }: Acceptance): void {
    const { metadata } = this.job
    const merged = { ...metadata.annotations, ...annotations }
    this.job = { ...this.job, metadata: { ...metadata, finalizers: [...finalizers], annotations: merged } }
  }

  protected override afterWrite(): void {
    this.#afterWrite(this)
  }

  protected override get stored(): TrainingJob {
    return this.job
  }

  protected override set stored(job: KubeObject) {
    this.job = job as TrainingJob
  }

  protected override readonly statusWrite = 'status'

  protected override prune(object: KubeObject): void {
    if (!isTerminating(object)) this.write(`delete ${nameWithKind(object)}`, () => this.#delete(object))
  }

  protected override force(object: KubeObject): void {
    this.write(`force ${nameWithKind(object)}`, () => this.#pods.remove(object))
  }

  protected override createUnowned(claim: KubeObject): void {
    if (this.claims.some(({ metadata }) => metadata.name === claim.metadata.name)) return
    this.write(`create ${nameWithKind(claim)}`, () => this.claims.push({ ...claim, status: { phase: 'Bound' } }))
  }

  protected override createUnread(secret: KubeObject): void {
    if (this.secrets.has(secret.metadata.name)) return
    this.write(`create ${nameWithKind(secret)}`, () => this.secrets.add(secret.metadata.name))
  }

  /** Pods are created and never changed; of Services and ConfigMaps only the creation counts. */
  protected override apply(object: KubeObject): void {
    const creation = `create ${nameWithKind(object)}`
    if (object.kind === 'Pod') {
      if (!this.#pods.get(object.metadata.name)) this.write(creation, () => this.#createPod(object))
    } else if (object.kind === 'Job') {
      this.write(this.workload ? `update ${nameWithKind(object)}` : creation, () => this.#applyJob(object))
    } else if (!this.writes.includes(creation)) this.write(creation, () => undefined)
  }

  protected override expire(): void {
    this.write('delete TrainingJob', () => (this.expired = true))
  }

  #createPod(pod: Pod): void {
    const { apiVersion, kind, metadata } = this.job
    const owner: OwnerReference = { apiVersion, kind, name: metadata.name, uid: JOB_UID, controller: true }
    this.#pods.create(pod, { namespace: metadata.namespace ?? '', now: this.now, owner })
  }

  #delete(object: KubeObject): void {
    if (object.kind !== 'Job') return this.#pods.delete(object, this.now)
    this.workload = undefined
    const isOwned = ({ metadata }: Pod): boolean => metadata.ownerReferences?.[0]?.uid === object.metadata.uid
    for (const pod of this.pods) if (isOwned(pod)) this.#pods.delete(pod, this.now)
  }

  #applyJob(job: Job): void {
    const { metadata, status } = this.workload ?? {}
    const fresh = this.#pods.nextUid()
    this.workload = { ...job, metadata: { ...job.metadata, uid: metadata?.uid ?? fresh }, ...(status && { status }) }
  }
}
