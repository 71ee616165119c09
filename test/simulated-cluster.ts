/**
 * A cluster with one training job, small enough to be played through thousands of times. It carries plans out
 * in the order and with the guarantees of the runtime's commit, may die after any write, and moves pods as kubelets,
 * the Job controller and the garbage collector would. Every write is put before the oracles.
 */
import { withDefaults } from '../src/api/defaults.ts'
import { type TrainingJob, type TrainingJobSpec, trainingJobV1 } from '../src/api/trainingjob.v1.ts'
import { type KubeObject, nameWithKind } from '../src/kube/object.ts'
import type { Job, PersistentVolumeClaim, Pod } from '../src/kube/resources.ts'
import type { Plan } from '../src/plan/plan.ts'
import { type Acceptance, acceptanceOf } from '../src/plan/training/acceptance.ts'
import { defaultTrainingConfig, type TrainingConfig } from '../src/plan/training/config.ts'
import { CONTAINER, JOB_UID_LABEL } from '../src/plan/training/names.ts'
import type { NodeFacts, TrainingObserved } from '../src/plan/training/observed.ts'
import { planTraining } from '../src/plan/training/plan.ts'
import type { PlannedStatus } from '../src/plan/training/status.ts'
import { timestamp } from '../src/plan/time.ts'

export const JOB_UID = 'uid-of-job'
const START = Date.parse('2026-01-01T00:00:00Z')
const GRACE_SECONDS = 30
const INDEX = 'batch.kubernetes.io/job-completion-index'

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

type Write = (name: string, act: () => void) => void

export type Exit = { readonly exitCode: number; readonly reason?: string }

export class SimulatedCluster {
  job: TrainingJob
  now = START
  workload: Job | undefined
  readonly nodes: NodeFacts[] = []
  readonly claims: PersistentVolumeClaim[] = []
  readonly events: string[] = []
  readonly secrets = new Set<string>()
  /** Writes of the operator, by kind. */
  readonly writes: string[] = []
  expired = false
  readonly config: TrainingConfig
  #pods = new Map<string, Pod>()
  #uids = 0
  readonly #afterWrite: (cluster: SimulatedCluster) => void

  constructor(spec: object = {}, afterWrite: (cluster: SimulatedCluster) => void = () => undefined) {
    this.job = trainingJob(spec)
    this.config = { ...defaultTrainingConfig }
    this.#afterWrite = afterWrite
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()]
  }

  get observed(): TrainingObserved {
    const { job, now, pods, claims, nodes, config, workload } = this
    const keys = { privateKey: 'private', publicKey: 'public' }
    const base = { job, now, pods, claims, nodes, config, logTails: new Map<string, string>() }
    return {
      ...base,
      ...(workload && { workload }),
      ...(job.spec.framework === 'mpi' && { sshKeys: keys }),
    }
  }

  /** Plans and commits until there is nothing left to write, or `limit` passes are over; answers how many there were. */
  settle(limit = 50): number {
    for (let pass = 1; pass <= limit; pass += 1) {
      this.controlJob()
      const before = this.writes.length
      this.pass()
      if (this.writes.length === before) return pass
    }
    throw new Error(`no rest after ${limit} passes: ${this.writes.slice(-10).join(', ')}`)
  }

  /** One pass of the operator; with `survives`, only so many of its writes, as if it had died then. */
  pass(survives = Infinity): Plan<PlannedStatus> | undefined {
    const last = this.writes.length + survives
    const acceptance = acceptanceOf(this.job)
    if (acceptance && survives > 0) this.#accept(acceptance)
    if (acceptanceOf(this.job)) return undefined
    const plan = planTraining(this.observed)
    this.commit(plan, last - this.writes.length)
    return plan
  }

  #accept({ finalizers, annotations }: Acceptance): void {
    const { metadata } = this.job
    const merged = { ...metadata.annotations, ...annotations }
    this.job = { ...this.job, metadata: { ...metadata, finalizers: [...finalizers], annotations: merged } }
    this.writes.push('accept')
    this.#afterWrite(this)
  }

  /** Carries a plan out; with `survives`, only so many of its writes, as if the operator had died then. */
  commit(plan: Plan<PlannedStatus>, survives = Infinity): void {
    const last = this.writes.length + survives
    const write: Write = (name, act) => {
      if (this.writes.length >= last) return
      act()
      this.writes.push(name)
      this.#afterWrite(this)
    }
    const { keep = [], create = [], apply, status, events, expired } = plan
    this.#clear(plan, write)
    for (const object of keep) this.#keep(object, write)
    for (const object of create) this.#createSecret(object, write)
    for (const object of apply) this.#apply(object, write)
    if (status)
      this.#writeStatus(
        status,
        events.map(({ reason }) => reason),
        write,
      )
    if (expired) write('delete TrainingJob', () => (this.expired = true))
  }

  #clear({ prune, force = [] }: Plan<PlannedStatus>, write: Write): void {
    for (const object of prune)
      if (!isGoing(object)) write(`delete ${nameWithKind(object)}`, () => this.#delete(object))
    for (const object of force) write(`force ${nameWithKind(object)}`, () => this.#remove(object))
  }

  // What users do.

  edit(spec: Partial<TrainingJobSpec>): void {
    const { metadata } = this.job
    const generation = (metadata.generation ?? 0) + 1
    this.job = { ...this.job, metadata: { ...metadata, generation }, spec: { ...this.job.spec, ...spec } }
  }

  // What nodes do.

  /** Every pod that waits gets a node and runs. */
  runAll(): void {
    for (const pod of this.pods) if (pod.status?.phase === 'Pending' && !isGoing(pod)) this.run(pod)
  }

  run(pod: Pod, node = `node-${pod.metadata.name}`): void {
    if (!this.nodes.some(({ name }) => name === node)) this.nodes.push({ name: node, ready: true, since: this.now })
    const state = { running: { startedAt: timestamp(this.now) } }
    this.#put({
      ...pod,
      spec: { ...pod.spec, nodeName: node } as Pod['spec'] & object,
      status: statusOf('Running', state),
    })
  }

  exit(pod: Pod, { exitCode, reason }: Exit): void {
    const why = reason ?? (exitCode === 0 ? 'Completed' : 'Error')
    const state = { terminated: { exitCode, reason: why, finishedAt: timestamp(this.now) } }
    this.#put({ ...pod, status: statusOf(exitCode === 0 ? 'Succeeded' : 'Failed', state) })
    this.controlJob()
  }

  /** Something else becomes of a pod. */
  change(pod: Pod): void {
    this.#put(pod)
  }

  exitAll(exit: Exit): void {
    for (const pod of this.pods) if (pod.status?.phase === 'Running' && !isGoing(pod)) this.exit(pod, exit)
  }

  /** Marked, then killed, as a preempted pod is. */
  preempt(pod: Pod): void {
    const mark = { type: 'DisruptionTarget', status: 'True' as const, reason: 'PreemptionByScheduler' }
    const conditions = [{ ...mark, lastTransitionTime: timestamp(this.now) }]
    this.#put({ ...pod, status: { ...pod.status, conditions } })
    this.#delete(this.#pods.get(pod.metadata.name) ?? pod)
    this.controlJob()
  }

  /** Somebody deletes it. */
  delete(pod: Pod): void {
    this.#delete(pod)
    this.controlJob()
  }

  /** Pods that were told to end do so. */
  letGo(): void {
    for (const pod of this.pods) if (isGoing(pod)) this.#remove(pod)
    this.controlJob()
  }

  /** The Job controller, as far as an Indexed Job that may not fail once concerns it. */
  controlJob(): void {
    const { workload } = this
    if (!workload?.spec) return
    const own = this.pods.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === workload.metadata.uid)
    const hasFailed = own.some((pod) => pod.status?.phase === 'Failed' || (isGoing(pod) && !workload.spec?.suspend))
    if (hasFailed) return this.#endJob(workload, own, 'FailureTarget')
    if (workload.spec.suspend) return own.filter(isActive).forEach((pod) => this.#delete(pod))
    const done = own.filter(({ status }) => status?.phase === 'Succeeded')
    if (done.length === workload.spec.completions) return this.#endJob(workload, own, 'Complete')
    if (workload.status?.conditions) return
    for (let index = 0; index < (workload.spec.completions ?? 0); index += 1)
      if (!own.some(({ metadata }) => metadata.labels?.[INDEX] === String(index))) this.#createForJob(workload, index)
  }

  #endJob(workload: Job, own: readonly Pod[], type: string): void {
    const conditions = [{ type, status: 'True' as const }]
    const done = own
      .filter(({ status }) => status?.phase === 'Succeeded')
      .map(({ metadata }) => metadata.labels?.[INDEX])
    this.workload = { ...workload, status: { conditions, completedIndexes: done.join(',') } }
    for (const pod of own.filter(isActive)) this.#delete(pod)
  }

  #createForJob({ metadata, spec }: Job, index: number): void {
    const template = spec?.template ?? {}
    const name = `${metadata.name}-${index}-${this.#uids}`
    const labels = { ...template.metadata?.labels, [INDEX]: String(index) }
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: metadata.name,
      uid: metadata.uid ?? '',
      controller: true,
    }
    this.#create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels, ownerReferences: [owner] },
      ...(template.spec && { spec: template.spec }),
    })
  }

  #create(pod: Pod): void {
    if (this.#pods.has(pod.metadata.name)) throw new Error(`${pod.metadata.name} exists already`)
    this.#uids += 1
    const metadata = { ...pod.metadata, uid: `uid-${this.#uids}`, creationTimestamp: timestamp(this.now) }
    this.#put({ ...pod, metadata, status: { phase: 'Pending' } })
  }

  #put(pod: Pod): void {
    this.#pods.set(pod.metadata.name, pod)
  }

  #delete(object: KubeObject): void {
    if (object.kind === 'Job') return this.#deleteJob(object)
    const known = this.#pods.get(object.metadata.name)
    if (!known || known.metadata.uid !== object.metadata.uid || isGoing(known)) return
    if (known.spec?.nodeName === undefined) return this.#remove(known)
    const deletionTimestamp = timestamp(this.now + GRACE_SECONDS * 1000)
    this.#put({
      ...known,
      metadata: { ...known.metadata, deletionTimestamp, deletionGracePeriodSeconds: GRACE_SECONDS },
    })
  }

  #deleteJob({ metadata: { uid } }: KubeObject): void {
    this.workload = undefined
    for (const pod of this.pods) if (pod.metadata.ownerReferences?.[0]?.uid === uid) this.#delete(pod)
  }

  #remove({ metadata }: KubeObject): void {
    if (this.#pods.get(metadata.name)?.metadata.uid === metadata.uid) this.#pods.delete(metadata.name)
  }

  #keep(claim: KubeObject, write: Write): void {
    if (this.claims.some(({ metadata }) => metadata.name === claim.metadata.name)) return
    write(`create ${nameWithKind(claim)}`, () => this.claims.push({ ...claim, status: { phase: 'Bound' } }))
  }

  #createSecret(object: KubeObject, write: Write): void {
    if (this.secrets.has(object.metadata.name)) return
    write(`create ${nameWithKind(object)}`, () => this.secrets.add(object.metadata.name))
  }

  /** Services and ConfigMaps are not looked at again; pods are never changed. */
  #apply(object: KubeObject, write: Write): void {
    if (object.kind === 'Pod') {
      if (!this.#pods.has(object.metadata.name)) write(`create ${nameWithKind(object)}`, () => this.#create(object))
    } else if (object.kind === 'Job') {
      write(`${this.workload ? 'update' : 'create'} ${nameWithKind(object)}`, () => this.#applyJob(object))
    } else if (!this.writes.includes(`create ${nameWithKind(object)}`))
      write(`create ${nameWithKind(object)}`, () => undefined)
  }

  #applyJob(job: Job): void {
    this.#uids += 1
    const uid = this.workload?.metadata.uid ?? `uid-${this.#uids}`
    this.workload = {
      ...job,
      metadata: { ...job.metadata, uid },
      ...(this.workload?.status && { status: this.workload.status }),
    }
  }

  #writeStatus(status: PlannedStatus, events: readonly string[], write: Write): void {
    const known = new Map(this.job.status?.conditions?.map((condition) => [condition.type, condition]))
    const conditions = status.conditions?.map((verdict) => {
      const before = known.get(verdict.type)
      const lastTransitionTime = before?.status === verdict.status ? before.lastTransitionTime : timestamp(this.now)
      return { ...verdict, lastTransitionTime }
    })
    const stamped = JSON.parse(JSON.stringify({ ...status, conditions })) as TrainingJob['status'] & object
    if (canonical(stamped) === canonical(this.job.status ?? {})) return
    write('status', () => {
      this.job = { ...this.job, status: stamped }
      this.events.push(...events)
    })
  }
}

type ContainerState = NonNullable<NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']>

function statusOf(phase: string, state: ContainerState): NonNullable<Pod['status']> {
  const container = { name: CONTAINER, image: '', imageID: '', ready: phase === 'Running', restartCount: 0, state }
  return { phase, containerStatuses: [container] }
}
const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
const isActive = ({ status }: Pod): boolean => status?.phase === 'Pending' || status?.phase === 'Running'
const sorted = (_key: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value
const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** Pods of the job, by its label, as gather finds them. */
export const isOfJob = ({ metadata }: Pod): boolean => metadata.labels?.[JOB_UID_LABEL] === JOB_UID
