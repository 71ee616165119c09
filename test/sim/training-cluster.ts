/** A simulated cluster with one TrainingJob. Plays the kubelets, the Job controller and the garbage collector. */
import { sameJson } from '../../src/api/json.ts'
import { withDefaults } from '../../src/api/defaults.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import type { PodProgress } from '../../src/api/training-report.ts'
import type { TrackingProgress } from '../../src/api/training-tracking.ts'
import { type TrainingJob, type TrainingJobSpec, trainingJobV1 } from '../../src/api/trainingjob.v1.ts'
import { type KubeObject, nameWithKind, type OwnerReference } from '../../src/kube/object.ts'
import type { ConfigMap, Job, PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import type { Contribution, Plan, Report } from '../../src/decision/plan.ts'
import {
  type Acceptance,
  acceptanceOf,
  checkpointPodName,
  defaultTrainingConfig,
  membershipOf,
  type NodeFacts,
  type PlannedStatus,
  planTraining,
  progressMark,
  slowRank,
  type TrainingConfig,
  type TrainingObserved,
} from '../../src/plan/training/index.ts'
import { timestamp } from '../../src/plan/time.ts'
import { ProgressWatch } from '../../src/reconcile/progress-watch.ts'
import { admitted, isWorkload, QUEUE_OBJECTS } from './queue.ts'
import { controlJob } from './job-controller.ts'
import { type Exit, isActive, isTerminating, PodStore } from './pod-store.ts'
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

const isSameGroup = (one: KubeObject, other: KubeObject): boolean =>
  one.apiVersion === other.apiVersion && one.metadata.name === other.metadata.name

/** Writes are texts such as `create Pod/bert-workers-0` or `status`. */
export class TrainingCluster extends SimulatedCluster<PlannedStatus, string> {
  job: TrainingJob
  workload: Job | undefined
  readonly nodes: NodeFacts[] = []
  readonly claims: PersistentVolumeClaim[] = []
  readonly secrets = new Set<string>()
  /** The kinds of gang schedulers that the cluster serves. */
  servedKinds: ReadonlySet<string> = new Set()
  /** The PodGroups of the job. */
  groups: KubeObject[] = []
  /** The ModelDeployment that `spec.output.deploy` names. */
  model: ModelDeployment | undefined
  /** The ConfigMap with the name of the history. */
  history: ConfigMap | undefined
  /** What the pods have reported, as the operator has it in memory. */
  reports: PodProgress[] = []
  /** In percent, by name of the pod. */
  gpuUtilization: ReadonlyMap<string, number> | undefined
  expired = false
  #jumpedMs = 0
  #progressWatch = this.#watch()
  #slowWatch = this.#watch()
  /** What MLflow has, as the operator knows it. Undefined: the operator has no server. */
  tracked: TrackingProgress | undefined
  /** Steps of the complete checkpoints in the storage. The agent finds them when its pod runs. */
  checkpoints: readonly number[] = []
  /** Objects that are read by name, such as flavors. */
  clusterObjects: ReadonlyMap<string, KubeObject> = QUEUE_OBJECTS
  /** Whether `settle` plays a queue that has quota for everybody. */
  grantsQuota = true
  /** Whether `settle` plays the pod that lists the checkpoints. */
  playsCheckpoints = true
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
    const { job, now, claims, nodes, config, workload, reports, model, tracked, groups, servedKinds } = this
    const scheduling = { groups, servedKinds, found: this.clusterObjects }
    const base = {
      job,
      now,
      ...membershipOf(job, workload, this.pods),
      ...scheduling,
      claims,
      nodes,
      config,
      reports,
      logTails: new Map<string, string>(),
    }
    const stillness = this.#progressWatch.observe(JOB_UID, progressMark(base))
    const slow = slowRank(base)
    const slowness = this.#slowWatch.observe(JOB_UID, slow && { mark: slow.podName, recordedMs: 0 })
    return {
      ...base,
      ...(this.gpuUtilization && { gpuUtilization: this.gpuUtilization }),
      ...(slowness && { slowMs: slowness.watchedMs }),
      ...(stillness && { stillness }),
      ...(workload && { workload }),
      ...(model && { model }),
      ...(tracked && { tracked }),
      history: { ...(this.history && { existing: this.history }), data: 'aGlzdG9yeQ==' },
      secretData: { sshKeyPair: { 'ssh-privatekey': 'private', 'ssh-publickey': 'public' } },
    }
  }

  /** Plans and commits until there is nothing left to write. Returns the number of passes. */
  settle(limit = 50): number {
    for (let pass = 1; pass <= limit; pass += 1) {
      this.controlJob()
      if (this.playsCheckpoints) this.listCheckpoints()
      this.grantQuota()
      const before = this.writes.length
      this.pass()
      if (this.writes.length === before) return pass
    }
    throw new Error(`not settled after ${limit} passes: ${this.writes.slice(-10).join(', ')}`)
  }

  /** The queue admits every group, if it has quota. */
  grantQuota(): void {
    if (this.grantsQuota) this.groups = this.groups.map((group) => admitted(group, this.now))
  }

  /** The operator starts again: what it had in memory is lost. */
  restartOperator(): void {
    this.reports = []
    this.#progressWatch = this.#watch()
    this.#slowWatch = this.#watch()
  }

  /** Changes only the wall clock. */
  jumpWallClock(ms: number): void {
    this.now += ms
    this.#jumpedMs += ms
  }

  #watch(): ProgressWatch {
    return new ProgressWatch({ monotonic: () => this.now - this.#jumpedMs })
  }

  get checkpointPod(): Pod | undefined {
    return this.#pods.get(checkpointPodName(this.job))
  }

  /** The agent lists the checkpoints and ends, if its pod exists. */
  listCheckpoints(): void {
    const pod = this.checkpointPod
    if (!pod || !isActive(pod) || isTerminating(pod)) return
    const step = this.checkpoints.length > 0 ? Math.max(...this.checkpoints) : undefined
    const latest = step === undefined ? {} : { latest: { name: `step-${step}`, step, time: timestamp(this.now) } }
    const result = { ...latest, count: this.checkpoints.length, pruned: 0, imported: false }
    this.exit(pod, { exitCode: 0, message: JSON.stringify(result) })
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

  /** The scheduler finds no node for the pod. */
  findNoNode(pod: Pod): void {
    const message = '0/2 nodes are available: 2 Insufficient cpu.'
    const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message }
    this.change({ ...pod, status: { ...pod.status, conditions: [condition] } })
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

  protected override createUnowned(object: KubeObject): void {
    if (object.kind !== 'ModelDeployment') return this.#createClaim(object)
    if (this.model) return
    const metadata = { ...object.metadata, uid: 'uid-of-model' }
    this.write(`create ${nameWithKind(object)}`, () => (this.model = { ...object, metadata } as ModelDeployment))
  }

  /** As server-side apply of one entry of a list by its key. */
  protected override contribute({ object, fieldManager }: Contribution): void {
    const { model } = this
    const [added] = (object as ModelDeployment).spec.versions
    if (!model || !added || model.metadata.uid !== object.metadata.uid) return
    const others = model.spec.versions.filter(({ name }) => name !== added.name)
    this.write(`${fieldManager} applies ${nameWithKind(object)}`, () => {
      this.model = { ...model, spec: { ...model.spec, versions: [...others, added] } }
    })
  }

  #createClaim(claim: KubeObject): void {
    if (this.claims.some(({ metadata }) => metadata.name === claim.metadata.name)) return
    this.write(`create ${nameWithKind(claim)}`, () => this.claims.push({ ...claim, status: { phase: 'Bound' } }))
  }

  protected override createRecord(record: KubeObject): void {
    this.write(`create ${nameWithKind(record)}`, () => (this.history = record))
  }

  protected override create(history: KubeObject): void {
    if (isWorkload(history)) return this.#applyGroup(history)
    const metadata = { ...history.metadata, ownerReferences: [this.#owner] }
    this.write(`create ${nameWithKind(history)}`, () => (this.history = { ...history, metadata }))
  }

  /** Rejected if the object has changed since it was observed. */
  protected override reportStatus({ object, status }: Report): void {
    if (!this.groups.includes(object)) return
    this.write(`report ${nameWithKind(object)}`, () => {
      this.groups = this.groups.map((one) => (one === object ? ({ ...object, status } as KubeObject) : one))
    })
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
    } else if (object.kind === 'PodGroup') this.#applyGroup(object)
    else if (!this.writes.includes(creation)) this.write(creation, () => undefined)
  }

  #applyGroup(group: KubeObject): void {
    const known = this.groups.find((one) => isSameGroup(one, group))
    const metadata = { ...group.metadata, uid: known?.metadata.uid ?? this.#pods.nextUid() }
    const stored = { ...group, metadata }
    if (sameJson(known, stored) || (known && isWorkload(group))) return
    this.write(`${known ? 'update' : 'create'} ${nameWithKind(group)}`, () => {
      this.groups = [...this.groups.filter((one) => one !== known), stored]
    })
  }

  protected override expire(): void {
    this.write('delete TrainingJob', () => (this.expired = true))
  }

  #createPod(pod: Pod): void {
    this.#pods.create(pod, { namespace: this.job.metadata.namespace ?? '', now: this.now, owner: this.#owner })
  }

  get #owner(): OwnerReference {
    const { apiVersion, kind, metadata } = this.job
    return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? JOB_UID, controller: true }
  }

  #delete(object: KubeObject): void {
    if (object.kind === 'PodGroup' || isWorkload(object))
      return void (this.groups = this.groups.filter((one) => !isSameGroup(one, object)))
    if (object.kind === 'ConfigMap') return void (this.history = undefined)
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
