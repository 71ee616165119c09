/** The pods of a simulated cluster: created, bound, terminated with a grace period and removed as the API server does it. */
import type { KubeObject, OwnerReference } from '../../src/kube/object.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { CONTAINER } from '../../src/plan/training/index.ts'
import { timestamp } from '../../src/plan/time.ts'

const GRACE_SECONDS = 30

export interface Exit {
  readonly exitCode: number
  readonly reason?: string
  /** Termination message. */
  readonly message?: string
}

/** What becomes a pod's metadata that its creator does not set. */
export interface Creation {
  readonly namespace: string
  readonly now: number
  /** Unless the pod names its own. */
  readonly owner: OwnerReference
}

export class PodStore {
  readonly #pods = new Map<string, Pod>()
  #uids = 0

  get all(): readonly Pod[] {
    return [...this.#pods.values()]
  }

  /** How many uids were given out. */
  get uids(): number {
    return this.#uids
  }

  nextUid(): string {
    this.#uids += 1
    return `uid-${this.#uids}`
  }

  get(name: string): Pod | undefined {
    return this.#pods.get(name)
  }

  put(pod: Pod): void {
    this.#pods.set(pod.metadata.name, pod)
  }

  create(pod: Pod, { namespace, now, owner }: Creation): void {
    if (this.#pods.has(pod.metadata.name)) throw new Error(`${pod.metadata.name} exists already`)
    const times = { uid: this.nextUid(), creationTimestamp: timestamp(now) }
    const metadata = { ownerReferences: [owner], ...pod.metadata, ...times, namespace }
    this.put({ ...pod, metadata, status: { phase: 'Pending' } })
  }

  run(pod: Pod, nodeName: string, now: number): void {
    const spec = { ...pod.spec, nodeName } as Pod['spec'] & object
    const startTime = timestamp(now)
    this.put({ ...pod, spec, status: { ...statusOf('Running', { running: { startedAt: startTime } }), startTime } })
  }

  exit(pod: Pod, { exitCode, reason, message }: Exit, now: number): void {
    const why = reason ?? (exitCode === 0 ? 'Completed' : 'Error')
    const state = {
      terminated: { exitCode, reason: why, finishedAt: timestamp(now), ...(message !== undefined && { message }) },
    }
    const { startTime } = pod.status ?? {}
    const status = statusOf(exitCode === 0 ? 'Succeeded' : 'Failed', state)
    this.put({ ...pod, status: { ...status, ...(startTime !== undefined && { startTime }) } })
  }

  /** A pod without a node is removed at once; any other terminates until it is removed. */
  delete({ metadata: { name, uid } }: KubeObject, now: number): void {
    const known = this.#pods.get(name)
    if (!known || known.metadata.uid !== uid || isTerminating(known)) return
    if (known.spec?.nodeName === undefined) return this.remove(known)
    const deletionTimestamp = timestamp(now + GRACE_SECONDS * 1000)
    this.put({
      ...known,
      metadata: { ...known.metadata, deletionTimestamp, deletionGracePeriodSeconds: GRACE_SECONDS },
    })
  }

  remove({ metadata }: KubeObject): void {
    if (this.#pods.get(metadata.name)?.metadata.uid === metadata.uid) this.#pods.delete(metadata.name)
  }
}

type ContainerState = NonNullable<NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']>

function statusOf(phase: string, state: ContainerState): NonNullable<Pod['status']> {
  const container = { name: CONTAINER, image: '', imageID: '', ready: phase === 'Running', restartCount: 0, state }
  return { phase, containerStatuses: [container] }
}

export const isTerminating = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
export const isActive = ({ status }: Pod): boolean => status?.phase === 'Pending' || status?.phase === 'Running'
