/** Several training jobs on nodes with a limited number of places, and a scheduler that places pods one by one. */
import type { Pod } from '../../src/kube/resources.ts'
import { JOB_UID_LABEL } from '../../src/plan/training/index.ts'
import { isActive, isTerminating } from './pod-store.ts'
import { TrainingCluster } from './training-cluster.ts'

const SECOND = 1000

export class SharedNodes {
  readonly jobs: readonly TrainingCluster[]
  readonly #places: number
  /** From 0 to 1. */
  readonly #random: () => number

  constructor(specs: readonly object[], places: number, random: () => number) {
    this.#places = places
    this.#random = random
    this.jobs = specs.map((spec, index) => {
      const cluster = new TrainingCluster(spec)
      cluster.job = { ...cluster.job, metadata: { ...cluster.job.metadata, uid: `uid-${index}` } }
      return cluster
    })
  }

  /** Number of places that pods hold. */
  get held(): number {
    return this.jobs.flatMap(({ pods }) => pods).filter(isPlaced).length
  }

  /** The operator and the nodes act, the scheduler places what it can, and gangs that run as a whole complete. */
  step(seconds: number): void {
    for (const job of this.jobs) {
      job.now += seconds * SECOND
      job.settle()
      job.letGo()
      job.settle()
    }
    this.#schedule()
    for (const job of this.jobs) {
      job.settle()
      const size = job.job.status?.worldSize ?? 0
      if (size > 0 && job.pods.filter(({ status }) => status?.phase === 'Running').length === size)
        job.exitAll({ exitCode: 0 })
      job.settle()
    }
  }

  /** Pods in random order, as after a restart of the scheduler. */
  #schedule(): void {
    const waiting = this.jobs.flatMap((job) => job.pods.filter(isWaiting).map((pod) => ({ job, pod })))
    const order = new Map(waiting.map(({ pod }) => [pod, this.#random()]))
    for (const { job, pod } of waiting.toSorted(
      (one, other) => (order.get(one.pod) ?? 0) - (order.get(other.pod) ?? 0),
    ))
      if (this.held < this.#places) job.run(pod)
      else job.findNoNode(pod)
  }
}

const isWaiting = (pod: Pod): boolean =>
  pod.status?.phase === 'Pending' && !isTerminating(pod) && pod.metadata.labels?.[JOB_UID_LABEL] !== undefined

const isPlaced = (pod: Pod): boolean => isActive(pod) && pod.spec?.nodeName !== undefined
